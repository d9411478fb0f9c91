using Treepie.Indexing.Queries;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Facets;

/// <summary>
/// The order of a facet's terms. Those of a field with numbers: first the numbers by their values, then the texts by their bytes.
/// Of a field without numbers all terms are texts.
/// </summary>
internal static class FacetTermOrder
{
    private const byte NumberMark = 0, TextMark = 1;

    /// <summary>Returns bytes that sort as a term is to.</summary>
    /// <param name="term">The term.</param>
    /// <param name="hasNumbers">Whether the field has numbers.</param>
    public static byte[] KeyOf(byte[] term, bool hasNumbers)
    {
        if (!hasNumbers)
            return term;
        Span<byte> number = stackalloc byte[NumberKey.Bytes];
        return NumberKey.TryParse(term, number) ? [NumberMark, .. number] : [TextMark, .. term];
    }

    /// <summary>Compares two terms, given as their keys, in the order of a facet.</summary>
    public static int Compare(
        FacetOrder order, ReadOnlySpan<byte> x, long countOfX, ReadOnlySpan<byte> y, long countOfY)
    {
        int byTerm = x.SequenceCompareTo(y), byCount = countOfX.CompareTo(countOfY);
        return order switch
        {
            FacetOrder.ValueDescending => -byTerm,
            FacetOrder.Count => byCount != 0 ? byCount : byTerm,
            FacetOrder.CountDescending => byCount != 0 ? -byCount : byTerm,
            _ => byTerm,
        };
    }
}
