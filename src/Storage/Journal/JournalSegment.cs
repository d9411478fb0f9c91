using Treepie.Storage.Files;

namespace Treepie.Storage.Journal;

/// <summary>A journal file whose frames are final, as <c>docs/file-format.md</c> describes it: header, frames, and then nothing that counts.</summary>
public sealed class JournalSegment
{
    private readonly IFile _file;

    internal JournalSegment(IFile file, Guid storeId, long use, long lengthBytes)
    {
        _file = file;
        StoreId = storeId;
        Use = use;
        LengthBytes = lengthBytes;
    }

    /// <summary>The store it belongs to.</summary>
    public Guid StoreId { get; }

    /// <summary>Number of this use; rises by one from file to file.</summary>
    public long Use { get; }

    /// <summary>Bytes to keep, from the start of the file.</summary>
    public long LengthBytes { get; }

    /// <summary>Reads bytes; returns how many, 0 at the end.</summary>
    /// <exception cref="StorageException">The disk cannot read them.</exception>
    public int Read(Span<byte> destination, long offset)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        int wanted = (int)Math.Clamp(LengthBytes - offset, 0, destination.Length);
        return wanted == 0 ? 0 : _file.Read(destination[..wanted], offset);
    }
}
