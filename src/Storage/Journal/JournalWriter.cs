using Treepie.Storage.Format;

namespace Treepie.Storage.Journal;

/// <summary>
/// Appends frames. One frame is one merged batch, written at once and made durable by one sync. Only the holder of
/// the write lane calls it.
/// </summary>
/// <remarks>
/// The first frame after opening goes into a new use of a file, with a new salt: what a torn tail left behind in the file used
/// before can never be taken for a continuation.
/// </remarks>
internal sealed class JournalWriter(JournalFiles files, Guid storeId, JournalPosition start, long oldestNeededUse, JournalSizes sizes, Func<ulong> drawSalt, Action<Action>? background)
{
    private readonly byte[] _block = new byte[JournalFileHeader.BlockBytes];
    private JournalFile? _current;
    private ulong _salt;
    private long _durableUpTo;

    /// <summary>Where the next frame goes, as a checkpoint records it.</summary>
    public JournalPosition Position { get; private set; } = start;

    /// <summary>Bytes of frames since <see cref="OnCheckpoint"/>.</summary>
    public long BytesSinceCheckpoint { get; private set; }

    /// <summary>Oldest use whose frames a recovery may need.</summary>
    public long OldestNeededUse { get; private set; } = oldestNeededUse;

    public long TotalBytes => files.TotalBytes;

    public FrameBuffer Buffer { get; } = new();

    /// <summary>
    /// Finds a place for the frame in <see cref="Buffer"/>. May create a file, and so throw <see cref="DiskFullException"/>: nothing of the frame is
    /// written yet then, and the writer is as before.
    /// </summary>
    public void MakeRoom()
    {
        long frameBytes = FrameHeader.FrameBytes(Buffer.Length - FrameHeader.SizeBytes);
        if (_current is not null && Position.Offset + frameBytes <= _current.LengthBytes)
            return;

        long wanted = _current is null ? sizes.FirstFileBytes : Math.Min(sizes.MaxFileBytes, _current.LengthBytes * sizes.GrowthFactor);
        JournalFile next = files.Take(JournalFileHeader.BlockBytes + frameBytes, wanted, OldestNeededUse);
        var header = new JournalFileHeader(storeId, Position.Use + 1, drawSalt(), Position.Frame, Position.PreviousHash);
        next.Header = header;
        _current = next;
        _salt = header.Salt;
        header.Write(_block);
        Position = Position with { Use = header.Use, Offset = 0 };

        long spare = Math.Min(sizes.MaxFileBytes, next.LengthBytes * sizes.GrowthFactor);
        if (background is null)
            TryPrepareSpare(spare);
        else
            background(() => TryPrepareSpare(spare));
    }

    /// <summary>
    /// Begins the first use of this session, unless that is done, and makes its header durable, before there is a frame. Throws
    /// <see cref="DiskFullException"/> with nothing changed; after any other exception the journal must not be used again.
    /// </summary>
    public void BeginUse()
    {
        if (_current is not null && Position.Offset > 0)
            return;

        Buffer.Clear();
        MakeRoom();
        JournalFile file = _current!; // MakeRoom found one
        file.File.Write(_block, 0);
        file.File.Sync();
        Position = Position with { Offset = JournalFileHeader.BlockBytes };
    }

    /// <summary>Writes and syncs the frame in <see cref="Buffer"/>. After any exception the journal must not be used again: what the disk holds is unknown.</summary>
    public void Append(long firstTransaction, long lastTransaction)
    {
        JournalFile file = _current ?? throw new InvalidOperationException("MakeRoom comes first.");
        long offset = Position.Offset;
        if (offset == 0)
        {
            file.File.Write(_block, 0);
            offset = JournalFileHeader.BlockBytes;
        }

        var header = new FrameHeader(
            _salt, Position.Frame, firstTransaction, lastTransaction, _durableUpTo, Buffer.Length - FrameHeader.SizeBytes, Position.PreviousHash);
        ulong hash = header.Seal(Buffer.Content);
        ReadOnlySpan<byte> frame = Buffer.Padded;
        file.File.Write(frame, offset);
        file.File.Sync();
        _durableUpTo = lastTransaction;
        BytesSinceCheckpoint += frame.Length;
        Position = new JournalPosition(Position.Use, offset + frame.Length, Position.Frame + 1, hash);
    }

    /// <summary>A checkpoint at this position is durable: files of earlier uses may be used again.</summary>
    public void OnCheckpoint(JournalPosition position, long bytesBefore)
    {
        OldestNeededUse = position.Use;
        BytesSinceCheckpoint -= bytesBefore;
        files.Release(position.Use);
    }

    /// <summary>No reason to fail what did find a place; without a spare, a checkpoint has to free a file before this one is full.</summary>
    private void TryPrepareSpare(long lengthBytes)
    {
        try
        {
            files.PrepareSpare(lengthBytes, OldestNeededUse);
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            // The next use will say so, if it is still true then.
        }
    }
}
