using Treepie.Storage.Format;

namespace Treepie.Storage.Checks;

/// <summary>A page of a tree that cannot be read, and the key range it covered.</summary>
/// <param name="Low">Inclusive lower bound of its keys, or null if unbounded.</param>
/// <param name="High">Exclusive upper bound of its keys, or null if unbounded.</param>
/// <param name="Page">Its number and birth. No page below it was born later.</param>
/// <param name="Level">0 for a leaf, whose keys are lost. At higher levels, leaves may be left that nothing refers
/// to.</param>
/// <param name="Why">The fault found.</param>
internal sealed record LostRange(byte[]? Low, byte[]? High, PageReference Page, int Level, string Why)
{
    /// <summary>Whether a leaf with these first and last keys can have been below the page.</summary>
    public bool CanHold(ReadOnlySpan<byte> first, ReadOnlySpan<byte> last) =>
        (Low is null || first.SequenceCompareTo(Low) >= 0) && (High is null || last.SequenceCompareTo(High) < 0);
}
