namespace Treepie.Indexing.Terms;

/// <summary>The occurrences of a <see cref="TermTable"/> by term: those of ordinal <c>o</c> are at <c>Starts[o]</c> up to <c>Starts[o + 1]</c>, owners ascending.</summary>
/// <param name="Starts">First occurrence by ordinal.</param>
/// <param name="Owners">Owner by occurrence.</param>
/// <param name="Frequencies">How often, by occurrence.</param>
/// <param name="PositionStarts">First position by occurrence, and the end; empty where none are kept.</param>
/// <param name="Positions">All positions, ascending within an occurrence.</param>
internal sealed record TermOccurrences(int[] Starts, int[] Owners, int[] Frequencies, int[] PositionStarts, int[] Positions)
{
    /// <summary>Positions of an occurrence.</summary>
    public ReadOnlySpan<int> PositionsOf(int occurrence) =>
        PositionStarts.Length == 0 ? default : Positions.AsSpan(PositionStarts[occurrence]..PositionStarts[occurrence + 1]);
}
