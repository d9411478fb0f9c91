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

    /// <summary>Adds the entries of all terms to a union, but for the first terms that have a long list.</summary>
    /// <param name="context">The query.</param>
    /// <param name="dictionary">Name of the dictionary.</param>
    /// <param name="union">The union.</param>
    /// <param name="mostApart">Maximum number of lists that are not added.</param>
    /// <returns>The lists that were not added.</returns>
    public List<LongList> AddTo(QueryContext context, string dictionary, UnionOperator union, int mostApart)
    {
        var apart = new List<LongList>();
        int count = _terms.SortedOrdinals().Length;
        if (count == 0 || context.View.Dictionary(dictionary) is not { } terms)
            return apart;

        using TermCursor cursor = terms.OpenCursor();
        for (int place = 0; place < count; place++)
        {
            ReadOnlySpan<byte> term = _terms.InOrder(place);
            if (!cursor.TryFindNext(term, out ReadOnlySpan<byte> value))
                continue;
            var payload = new TermPayload(value);
            if (payload.Kind == PostingKind.Long && apart.Count < mostApart)
                apart.Add(new LongList(payload.ListId, payload.EntryCount, context.Tracer is null ? [] : term.ToArray()));
            else
                union.Add(payload, context.View.Postings(dictionary));
        }

        return apart;
    }

    /// <inheritdoc/>
    public void Clear() => _terms.Clear(KeptBytes);
}

/// <summary>A long list of a dictionary.</summary>
/// <param name="Id">Its id.</param>
/// <param name="EntryCount">Number of its entries.</param>
/// <param name="Term">Its term, for the plan; empty if no plan is requested.</param>
internal readonly record struct LongList(long Id, long EntryCount, byte[] Term);
