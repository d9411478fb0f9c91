using System.Buffers.Binary;
using Treepie.Storage.Format;

namespace Treepie.Storage.Snapshots;

/// <summary>A run of pages that only named snapshots see.</summary>
/// <param name="Run">The pages.</param>
/// <param name="Birth">Transaction that made them: earlier snapshots do not see them.</param>
/// <param name="Freed">First transaction whose state does not use them.</param>
internal readonly record struct PinnedRun(PageRun Run, long Birth, long Freed)
{
    /// <summary>Whether such a run is possible in a file of a number of pages.</summary>
    public bool IsWithin(long pages) =>
        Run.First >= FormatLimits.FirstDataPage && Run.Pages >= 1 && Run.First <= pages - Run.Pages;

    public static PinnedRun Read(ReadOnlySpan<byte> source, long freed)
    {
        PageReference reference = PageReference.ReadPacked(source);
        return new PinnedRun(
            new PageRun(reference.Number, BinaryPrimitives.ReadInt32LittleEndian(source[PageReference.PackedBytes..])),
            reference.Birth, freed);
    }

    public void Write(Span<byte> destination)
    {
        new PageReference(Run.First, Birth).WritePacked(destination);
        BinaryPrimitives.WriteInt32LittleEndian(destination[PageReference.PackedBytes..], Run.Pages);
    }
}
