#include <stdio.h>
#include <string.h>

#define K 8

int main(int argc, char *argv[])
{
    char seq[1024];
    char kmer[K + 1];

#pragma mapreduce mapper key(kmer)
    while (fgets(seq, 1024, stdin) != NULL) {
        if (seq[0] == '>')
            continue;
        int len = strlen(seq);
        while (len > 0 && (seq[len - 1] == '\n' || seq[len - 1] == '\r'))
            seq[--len] = '\0';
        for (int i = 0; i <= len - K; i++) {
            memcpy(kmer, &seq[i], K);
            kmer[K] = '\0';
            if (strchr(kmer, 'N') == NULL)
                printf("%s\t%d\n", kmer, 1);
        }
    }
    return 0;
}
