/* ngrams.c -- n-grams as paths in a tree, the tree as a hash table of its edges.
 *
 *   root -the-> 1 -cat-> 2 -sat-> 3        an n-gram is the node its n symbols lead to, and the
 *      \-cat-> 4 -sat-> 5                  next longer one is a single step further
 *
 * The key of the table is an edge, (node, symbol), 64 bits in all. Equal n-grams meet at one
 * node and different ones never do, whatever the hash, so nothing is compared a second time and
 * no n-gram is copied. A step costs the same for a 6-gram as for a word. Words are numbered in
 * the same way, as paths of characters.
 *
 * The number of edges is bounded beforehand. The table therefore has a fixed size and is at
 * most half full, and an edge's slot gives the number of the node that it leads to. */
#include "scores/ngrams.h"

typedef struct Edge {
    uint32_t from;    // node
    uint32_t symbol;  // plus 1; 0: the slot is empty
    int count;        // of the n-gram in the present reference
    int most;         // in any reference, less those found in the hypothesis
} Edge;

typedef struct NgramTree {
    Edge *edge;  // [1 << bits]; edge i leads to node i+1; the root is node 0
    int bits;
} NgramTree;

static bool tree_reserve(NgramTree *tree, size_t edges, Error *error)
{
    tree->bits = 4;
    while (((size_t)1 << tree->bits) < 2 * edges) tree->bits++;
    tree->edge = calloc((size_t)1 << tree->bits, sizeof *tree->edge);
    if (!tree->edge) return error_memory(error, "to count %zu n-grams", edges);
    return true;
}

/* The edge of this symbol from this node, or the empty slot for it: linear probing from the
 * top bits of the key times 2^64/φ (Knuth, volume 3, section 6.4). */
static Edge *tree_edge(const NgramTree *tree, uint32_t node, uint32_t symbol)
{
    uint64_t key = ((uint64_t)node << 32 | symbol) * 0x9E3779B97F4A7C15u;
    size_t mask = ((size_t)1 << tree->bits) - 1;
    size_t i = (size_t)(key >> (64 - tree->bits));
    for (;; i = (i + 1) & mask) {
        Edge *edge = &tree->edge[i];
        if (!edge->symbol || (edge->from == node && edge->symbol == symbol + 1)) return edge;
    }
}

static Edge *tree_add(const NgramTree *tree, uint32_t node, uint32_t symbol)
{
    Edge *edge = tree_edge(tree, node, symbol);
    if (!edge->symbol) *edge = (Edge){.from = node, .symbol = symbol + 1};
    return edge;
}

static uint32_t tree_node(const NgramTree *tree, const Edge *edge)
{
    return (uint32_t)(edge - tree->edge) + 1;
}

static void number_words(const NgramTree *tree, Codepoints *text)
{
    int words = 0;
    for (int i = 0; i < text->length; i++) {
        uint32_t node = 0;
        for (; i < text->length && !codepoints_is_space(text->at[i]); i++)
            node = tree_node(tree, tree_add(tree, node, text->at[i]));
        if (node) text->at[words++] = node;
    }
    text->length = words;
}

/* The sum of the texts' lengths from text `first` on. */
static size_t length_from(const Comparison *c, int first)
{
    size_t length = 0;
    for (int i = first; i <= c->references; i++) length += (size_t)c->text[i].length;
    return length;
}

bool ngrams_number_words(Comparison *c, Error *error)
{
    NgramTree tree;
    if (!tree_reserve(&tree, length_from(c, 0), error)) return false;
    for (int i = 0; i <= c->references; i++) number_words(&tree, &c->text[i]);
    free(tree.edge);
    return true;
}

/* Adds `step` to the counts of a reference's n-grams: 1, or -1 to take it back. */
static void count_reference(const NgramTree *tree, const Codepoints *text, int order, int step)
{
    for (int i = 0; i < text->length; i++) {
        uint32_t node = 0;
        for (int n = 0; n < order && i + n < text->length; n++) {
            Edge *edge = tree_add(tree, node, text->at[i + n]);
            edge->count += step;
            edge->most = edge->count > edge->most ? edge->count : edge->most;
            node = tree_node(tree, edge);
        }
    }
}

bool ngrams_count_correct(long long *correct, const Comparison *c, int order, Error *error)
{
    NgramTree tree;
    if (!tree_reserve(&tree, (size_t)order * length_from(c, 1), error)) return false;
    for (int i = 1; i <= c->references; i++) {
        if (i > 1) count_reference(&tree, &c->text[i - 1], order, -1);
        count_reference(&tree, &c->text[i], order, 1);
    }
    const Codepoints *hypothesis = c->text;
    for (int i = 0; i < hypothesis->length; i++) {
        uint32_t node = 0;
        for (int n = 0; n < order && i + n < hypothesis->length; n++) {
            Edge *edge = tree_edge(&tree, node, hypothesis->at[i + n]);
            if (!edge->symbol) break;  // nor does a longer n-gram occur
            if (edge->most > 0) {
                edge->most--;
                correct[n]++;
            }
            node = tree_node(&tree, edge);
        }
    }
    free(tree.edge);
    return true;
}
