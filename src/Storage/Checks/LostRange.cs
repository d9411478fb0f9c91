using Treepie.Storage.Format;

namespace Treepie.Storage.Checks;

/// <summary>A page of a tree that cannot be had, and what it stood for.</summary>
/// <param name="Low">Its keys are not below this; null: the first of the tree.</param>
/// <param name="High">Its keys are below this; null: the last of the tree.</param>
/// <param name="Page">Where it was, and when it was born: nothing below it is younger.</param>
/// <param name="Level">0 for a leaf: with it its keys are gone. Above, leaves may be left that nothing refers to any
/// more.</param>
/// <param name="Why">What is wrong with it.</param>
internal sealed record LostRange(byte[]? Low, byte[]? High, PageReference Page, int Level, string Why)
{
    /// <summary>Whether a leaf with these ends can have been below it.</summary>
    public bool CanHold(ReadOnlySpan<byte> first, ReadOnlySpan<byte> last) =>
        (Low is null || first.SequenceCompareTo(Low) >= 0) && (High is null || last.SequenceCompareTo(High) < 0);
}
