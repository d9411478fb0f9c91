using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>Many terms of a dictionary, looked up in its order: most are in the leaf in which the one before was found.</summary>
internal sealed class SortedTerms : IReusable
{
    private const int KeptBytes = 64 * 1024;

    private readonly TermTable _terms = new();

    /// <summary>Adds a term; equal ones are looked up once.</summary>
    public void Add(ReadOnlySpan<byte> term) => _terms.Intern(term);

    /// <summary>Adds the entries of all terms to a union.</summary>
    /// <param name="context">The query.</param>
    /// <param name="dictionary">Name of the dictionary.</param>
    /// <param name="union">The union.</param>
    public void AddTo(QueryContext context, string dictionary, UnionOperator union)
    {
        int count = _terms.SortedOrdinals().Length;
        if (count == 0 || context.View.Dictionary(dictionary) is not { } terms)
            return;

        using TermCursor cursor = terms.OpenCursor();
        for (int place = 0; place < count; place++)
        {
            if (cursor.TryFindNext(_terms.InOrder(place), out ReadOnlySpan<byte> value))
                union.Add(new TermPayload(value), context.View.Postings(dictionary));
        }
    }

    /// <inheritdoc/>
    public void Clear() => _terms.Clear(KeptBytes);
}
