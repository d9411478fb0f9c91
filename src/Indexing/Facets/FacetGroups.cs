using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Queries;

namespace Treepie.Indexing.Facets;

/// <summary>Terms with their number of hits and the aggregates of these. Invariant: 1. Every term has a count and one figure per
/// aggregate.</summary>
internal sealed class FacetGroups
{
    private readonly NumberReader[] numbers;
    private readonly int mostTerms;
    private readonly Dictionary<byte[], int> places;
    private readonly Dictionary<byte[], int>.AlternateLookup<ReadOnlySpan<byte>> bySpan;
    private readonly List<byte[]> terms = [];
    private readonly List<long> counts = [];
    private readonly List<FacetFigures> figures = [];
    private readonly HashSet<int> whole = [];
    private int last = -1;

    public FacetGroups(NumberReader[] numbers, int mostTerms = FacetRun.MaxTerms)
    {
        this.numbers = numbers;
        this.mostTerms = mostTerms;
        places = new Dictionary<byte[], int>(new ByBytes());
        bySpan = places.GetAlternateLookup<ReadOnlySpan<byte>>();
    }

    /// <summary>Whether numbers are aggregated, which requires every single hit.</summary>
    public bool HasNumbers => numbers.Length > 0;

    /// <summary>
    /// Whether terms arrive in byte order: then lookups and sorting are not needed.
    /// </summary>
    public bool IsInOrder { get; set; }

    /// <summary>Counts one hit of a term, given by its place.</summary>
    public void Add(int place, long id)
    {
        Debug.Assert(counts.Count == terms.Count, "1: a count per term");
        Debug.Assert(figures.Count == terms.Count * numbers.Length, "1: a figure per term and aggregate");
        CollectionsMarshal.AsSpan(counts)[place]++;
        for (int i = 0; i < numbers.Length; i++)
        {
            if (numbers[i].TryRead(id, out double number))
                figures[(place * numbers.Length) + i] = figures[(place * numbers.Length) + i].With(number);
        }
    }

    /// <summary>Counts several hits of a term, given by its place.</summary>
    public void AddCount(int place, long hits) => counts[place] += hits;

    /// <summary>The page that a facet requests. Nothing may be counted afterwards.</summary>
    public FacetResult Page(FacetQuery facet, IndexView view)
    {
        TakeWholeTexts(view, view.Field(facet.Field!)); // a facet of terms has its field
        int[] order = [.. Enumerable.Range(0, terms.Count)];
        // whole texts order differently from their cut forms
        if (!(IsInOrder && whole.Count == 0 && facet.Order == FacetOrder.Value))
            Array.Sort(order, (x, y) => Compare(x, y, facet.Order));
        int first = Math.Min(facet.Start, order.Length);
        int end = (int)Math.Min((long)first + facet.PageSize, order.Length);
        var values = new List<FacetValue>(end - first);
        foreach (int place in order.AsSpan(first, end - first))
            values.Add(
                new FacetValue(
                    Text(place), counts[place],
                    numbers.Length == 0 ? [] : figures.GetRange(place * numbers.Length, numbers.Length)));
        long hits = 0;
        foreach (int place in order.AsSpan(end))
            hits += counts[place];
        return new FacetResult(values, facet.WithRemainingTerms ? [.. order[end..].Select(Text)] : [], order.Length - end, hits);
    }

    /// <summary>Replaces cut terms by their whole texts, which have an order and a name of their own.</summary>
    private void TakeWholeTexts(IndexView view, int field)
    {
        if (!view.HasLongTexts(field))
            return;

        for (int place = 0; place < terms.Count; place++)
        {
            if (TermForm.IsCut(terms[place]) && whole.Add(place))
                terms[place] = view.WholeText(field, terms[place]).ToArray();
        }
    }

    private string Text(int place) => whole.Contains(place)
        ? Encoding.UTF8.GetString(terms[place])
        : TermText.Of(terms[place], isNumber: false);

    private int Compare(int x, int y, FacetOrder order)
    {
        int byTerm = terms[x].AsSpan().SequenceCompareTo(terms[y]);
        int byCount = counts[x].CompareTo(counts[y]);
        return order switch
        {
            FacetOrder.ValueDescending => -byTerm,
            FacetOrder.Count => byCount != 0 ? byCount : byTerm,
            FacetOrder.CountDescending => byCount != 0 ? -byCount : byTerm,
            _ => byTerm,
        };
    }

    /// <summary>The place of a term, which is added if new.</summary>
    public int PlaceOf(ReadOnlySpan<byte> term)
    {
        // Hits of one term are often consecutive, and always when counting term by term.
        if (last >= 0 && term.SequenceEqual(terms[last]))
            return last;

        if (IsInOrder || !bySpan.TryGetValue(term, out last))
        {
            if (terms.Count >= mostTerms)
                throw new IndexQueryException(
                    $"The facets of the query have more than {FacetRun.MaxTerms:N0} terms together. Narrow the condition, ask "
                        + $"for pages of terms, or use ranges.");
            Debug.Assert(
                !IsInOrder || terms.Count == 0 || terms[^1].AsSpan().SequenceCompareTo(term) < 0, "terms arrive in byte order");
            last = terms.Count;
            byte[] kept = term.ToArray();
            if (!IsInOrder)
                places.Add(kept, last);
            terms.Add(kept);
            counts.Add(0);
            for (int i = 0; i < numbers.Length; i++)
                figures.Add(default);
        }

        return last;
    }

    private sealed class ByBytes : IEqualityComparer<byte[]>, IAlternateEqualityComparer<ReadOnlySpan<byte>, byte[]>
    {
        public bool Equals(byte[]? x, byte[]? y) => x.AsSpan().SequenceEqual(y);

        public bool Equals(ReadOnlySpan<byte> alternate, byte[] other) => alternate.SequenceEqual(other);

        public int GetHashCode([DisallowNull] byte[] obj) => GetHashCode(obj.AsSpan());

        public int GetHashCode(ReadOnlySpan<byte> alternate)
        {
            var hash = new HashCode();
            hash.AddBytes(alternate);
            return hash.ToHashCode();
        }

        public byte[] Create(ReadOnlySpan<byte> alternate) => alternate.ToArray();
    }
}
