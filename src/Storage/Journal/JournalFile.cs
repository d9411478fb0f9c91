using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Journal;

/// <summary>One journal file.</summary>
internal sealed class JournalFile(IFile file, long lengthBytes)
{
    public IFile File { get; } = file;

    public long LengthBytes { get; } = lengthBytes;

    /// <summary>Offset at which frames must end: the last block is reserved for <see cref="JournalNextUse"/>.</summary>
    public long FramesEnd => JournalNextUse.OffsetIn(LengthBytes);

    /// <summary>Whether the length is known to be durable, so that a header may record it.</summary>
    public bool IsLengthDurable { get; set; }

    /// <summary>Header of its last use, or null if none is readable.</summary>
    public JournalFileHeader? Header { get; set; }

    /// <summary>Whether it is being written, or its frames are not yet superseded by a checkpoint.</summary>
    public bool IsTaken { get; set; }

    /// <summary>
    /// Writes to blocks that are already allocated. A copy-on-write file system can still run out of space here. That is reported
    /// as an ordinary error, not as a <see cref="DiskFullException"/>, because part of the data may have been written.
    /// </summary>
    public void WriteDurable(ReadOnlySpan<byte> bytes, long offset)
    {
        IFile written = File;
        try
        {
            written.WriteDurable(bytes, offset);
        }
        catch (DiskFullException error)
        {
            throw new StorageException(
                $"The disk was full while '{written.Name}' was written, although the file has its blocks. Free some space first.",
                error);
        }
    }
}
