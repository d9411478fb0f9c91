using System.Buffers.Binary;
using Treepie.Storage.Format;

namespace Treepie.Storage.Snapshots;

/// <summary>Pages side by side that only named snapshots see.</summary>
/// <param name="Run">The pages.</param>
/// <param name="Birth">Transaction that made them: snapshots before it do not see them.</param>
/// <param name="Freed">Transaction from which on the state does not use them.</param>
internal readonly record struct PinnedRun(PageRun Run, long Birth, long Freed)
{
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
