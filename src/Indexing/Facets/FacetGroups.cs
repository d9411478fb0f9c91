using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Facets;

/// <summary>
/// Terms with their number of hits and the aggregates of these. Invariant: 1. every term has a count and one figure per
/// aggregate.
/// </summary>
internal sealed class FacetGroups
{
    private readonly NumberReader[] _numbers;
    private readonly int _mostTerms;
    private readonly Dictionary<byte[], int> _places;
    private readonly Dictionary<byte[], int>.AlternateLookup<ReadOnlySpan<byte>> _bySpan;
    private readonly List<byte[]> _terms = [];
    private readonly List<long> _counts = [];
    private readonly List<FacetFigures> _figures = [];
    private readonly HashSet<int> _whole = [];
    private int _last = -1;

    public FacetGroups(NumberReader[] numbers, int mostTerms = FacetRun.MaxTerms)
    {
        _numbers = numbers;
        _mostTerms = mostTerms;
        _places = new Dictionary<byte[], int>(TermEquality.Instance);
        _bySpan = _places.GetAlternateLookup<ReadOnlySpan<byte>>();
    }

    /// <summary>Whether numbers are aggregated, which requires reading every hit.</summary>
    public bool HasNumbers => _numbers.Length > 0;

    /// <summary>Whether terms arrive in byte order, so that lookups and sorting are not needed.</summary>
    public bool IsInOrder { get; set; }

    /// <summary>Counts one hit of a term, given by its index.</summary>
    public void Add(int place, long id)
    {
        Debug.Assert(_counts.Count == _terms.Count, "1: a count per term");
        Debug.Assert(_figures.Count == _terms.Count * _numbers.Length, "1: a figure per term and aggregate");
        CollectionsMarshal.AsSpan(_counts)[place]++;
        for (int i = 0; i < _numbers.Length; i++)
        {
            if (_numbers[i].TryRead(id, out double number))
                _figures[(place * _numbers.Length) + i] = _figures[(place * _numbers.Length) + i].With(number);
        }
    }

    /// <summary>Counts several hits of a term, given by its index.</summary>
    public void AddCount(int place, long hits) => _counts[place] += hits;

    /// <summary>Returns the page that a facet requests. Nothing may be counted afterwards.</summary>
    public FacetResult Page(FacetQuery facet, IndexView view)
    {
        int field = view.Field(facet.Field!); // a facet of terms has its field
        TakeWholeTexts(view, field);
        int[] order = [.. Enumerable.Range(0, _terms.Count)];
        bool hasNumbers = view.HasNumbers(field);
        // whole texts sort differently from their truncated forms
        if (!(IsInOrder && !hasNumbers && _whole.Count == 0 && facet.Order == FacetOrder.Value))
        {
            byte[][] keys = [.. _terms.Select(term => FacetTermOrder.KeyOf(term, hasNumbers))];
            Array.Sort(order, (x, y) => FacetTermOrder.Compare(facet.Order, keys[x], _counts[x], keys[y], _counts[y]));
        }

        int first = Math.Min(facet.Start, order.Length);
        int end = (int)Math.Min((long)first + facet.PageSize, order.Length);
        var values = new List<FacetValue>(end - first);
        foreach (int place in order.AsSpan(first, end - first))
            values.Add(
                new FacetValue(
                    Text(place), _counts[place],
                    _numbers.Length == 0 ? [] : _figures.GetRange(place * _numbers.Length, _numbers.Length)));
        long hits = 0;
        foreach (int place in order.AsSpan(end))
            hits += _counts[place];
        return new FacetResult(values, facet.WithRemainingTerms ? [.. order[end..].Select(Text)] : [], order.Length - end, hits);
    }

    /// <summary>Replaces truncated terms by their whole texts, which may sort differently.</summary>
    private void TakeWholeTexts(IndexView view, int field)
    {
        if (!view.HasLongTexts(field))
            return;

        for (int place = 0; place < _terms.Count; place++)
        {
            if (TermForm.IsCut(_terms[place]) && _whole.Add(place))
                _terms[place] = view.WholeText(field, _terms[place]).ToArray();
        }
    }

    private string Text(int place) => _whole.Contains(place)
        ? Encoding.UTF8.GetString(_terms[place])
        : TermText.Of(_terms[place], isNumber: false);

    /// <summary>Returns the index of a term, which is added if new.</summary>
    public int PlaceOf(ReadOnlySpan<byte> term)
    {
        // Hits of one term are often consecutive, and always when counting term by term.
        if (_last >= 0 && term.SequenceEqual(_terms[_last]))
            return _last;

        if (IsInOrder || !_bySpan.TryGetValue(term, out _last))
        {
            if (_terms.Count >= _mostTerms)
                throw new IndexQueryException(
                    $"A facet of the query has more than {_mostTerms:N0} terms: the limit for all facets together leaves no "
                        + "more. Narrow the condition, ask for pages of terms, or use ranges.");
            Debug.Assert(
                !IsInOrder || _terms.Count == 0 || _terms[^1].AsSpan().SequenceCompareTo(term) < 0, "terms arrive in byte order");
            _last = _terms.Count;
            byte[] kept = term.ToArray();
            if (!IsInOrder)
                _places.Add(kept, _last);
            _terms.Add(kept);
            _counts.Add(0);
            for (int i = 0; i < _numbers.Length; i++)
                _figures.Add(default);
        }

        return _last;
    }
}
