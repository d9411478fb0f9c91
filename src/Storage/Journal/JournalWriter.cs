using System.Diagnostics;
using Treepie.Storage.Encryption;
using Treepie.Storage.Format;

namespace Treepie.Storage.Journal;

/// <summary>
/// Appends frames. A frame is one merged batch, written at once and made durable by one sync. <see cref="Append"/> must be
/// called by the thread that flushes a frame, everything else by the leader of the commit queue while no frame is being
/// flushed.
/// </summary>
/// <remarks>
/// Invariants. 1. The first frame after opening goes into a new use of a file, with a new salt: a torn tail left in the
/// previous file can never be mistaken for a continuation. 2. Before a session overwrites anything, what its recovery read is
/// made durable: a process that was killed, or whose sync failed, may have left it only in the system's cache. The data file
/// and the last journal file are synced, the meta page is written again, and the last frame is repeated as the first of the
/// new use, since a sync after a failed one proves nothing. 3. Before the first frame of a use is acknowledged, the file that
/// the log continues from durably names that use: so the loss of the newest file is noticed. 4. Nothing is written after an
/// error. 5. Frames follow each other without a gap: within a file in whole blocks, before its last one, and in their
/// transactions. 6. A file whose frames a recovery may need is not overwritten.
/// </remarks>
internal sealed class JournalWriter : IDisposable
{
    /// <summary>
    /// Number of files prepared in advance: one for the next switch, and one for the switch after it while another is being
    /// created.
    /// </summary>
    private const int Spares = 2;

    private readonly JournalFiles _files;
    private readonly JournalSettings _settings;
    private JournalFile? _current;
    private JournalFile? _before;
    private JournalFileHeader _header;
    private long _durableUpTo;
    private int _uses;
    private JournalTail? _tail;
    private bool _isRecoveredDurable;
    private bool _needsSpares;
    private FrameCipher? _cipher;

    public JournalWriter(
        JournalFiles files, JournalPosition start, JournalTail? tail, long oldestNeededUse, JournalSettings settings)
    {
        _files = files;
        _settings = settings;
        Position = start;
        _tail = tail;
        LastTimeMs = tail?.Header.TimeMs ?? 0;
        OldestNeededUse = oldestNeededUse;
    }

    /// <summary>Position of the next frame, as recorded by a checkpoint.</summary>
    public JournalPosition Position { get; private set; }

    /// <summary>Size of the next file. A session may need only one, so sizes grow only from its third file on.</summary>
    private long NextFileBytes => _current is null ? _settings.Sizes.FirstFileBytes
        : Math.Min(
            _settings.Sizes.MaxFileBytes, _uses < 2 ? _current.LengthBytes : _current.LengthBytes * _settings.Sizes.GrowthFactor);

    private bool HasUse => _current is not null && IsOpen && Position.Offset > 0;

    /// <summary>Bytes of frames since the last durable checkpoint began, see <see cref="OnCheckpoint"/>.</summary>
    public long BytesSinceCheckpoint { get; private set; }

    /// <summary>Bytes of frames since opening.</summary>
    public long BytesWritten { get; private set; }

    /// <summary>Number of frames since opening.</summary>
    public long FramesWritten { get; private set; }

    /// <summary>Oldest use whose frames a recovery may need.</summary>
    public long OldestNeededUse { get; private set; }

    /// <summary>
    /// Time of the last frame, in milliseconds since 1970-01-01 UTC; 0 if there is none since the last clean close. It never
    /// decreases, whatever the clock does.
    /// </summary>
    public long LastTimeMs { get; private set; }

    /// <summary>How frames are made durable.</summary>
    public JournalSyncMethod Method { get; private set; }

    public FrameBuffer Buffer { get; } = new();

    /// <summary>
    /// Establishes invariant 2, once per session before anything is written. Throws <see cref="DiskFullException"/> with
    /// nothing changed; after any other exception the journal must not be used.
    /// </summary>
    public void BeginSession()
    {
        if (_isRecoveredDurable)
            return;

        _settings.MakeDataDurable();
        _files.Find(Position.Use)?.File.Sync();
        if (_tail is { } tail && tail.At.Use == Position.Use)
            Repeat(tail);
        _tail = null;
        _isRecoveredDurable = true;
    }

    /// <summary>Whether the current file accepts more frames; after a change of keys it does not.</summary>
    public bool IsOpen =>
        _settings.Cipher is not { } cipher
            || (_header.Incarnation == cipher.Incarnation && ReferenceEquals(_header.Keys, cipher.Block));

    /// <summary>
    /// Whether a frame with a payload of this size fits into the current file, so that <see cref="MakeRoom"/> would do
    /// nothing.
    /// </summary>
    public bool HasRoom(long payloadBytes) =>
        _current is not null
            && IsOpen
            && payloadBytes < Math.Min(_current.LengthBytes, int.MaxValue)
            && Position.Offset + FrameHeader.FrameBytes((int)payloadBytes) <= _current.FramesEnd;

    /// <summary>
    /// Ensures that the frame in <see cref="Buffer"/> fits into a file. May create a file, and so throw
    /// <see cref="DiskFullException"/>: then nothing of the frame has been written, and the writer is unchanged.
    /// </summary>
    public void MakeRoom()
    {
        Debug.Assert(Buffer.Length >= FrameHeader.SizeBytes, "5: a frame has a header");
        long frameBytes = FrameHeader.FrameBytes(Buffer.Length - FrameHeader.SizeBytes);
        if (_current is not null && IsOpen && Position.Offset + frameBytes <= _current.FramesEnd)
            return;

        JournalFile next = _files.Take(
            JournalFileHeader.BlockBytes + frameBytes + JournalNextUse.BlockBytes, NextFileBytes, OldestNeededUse);
        if (Method == JournalSyncMethod.NotChosen)
            Method = SyncMethodProbe.Choose(next.File, _settings.ProbeClock);
        if (Method == JournalSyncMethod.Direct && next.LengthBytes % FrameHeader.AlignmentBytes == 0)
            next.File.TryWriteDirectly(true); // if a file refuses, its frames are written through the cache

        Debug.Assert(next.Header is not { } last || last.Use < OldestNeededUse, "6: no recovery needs what the file has");
        Debug.Assert(next is { IsTaken: true, IsLengthDurable: true }, "6: the file is for this use, and its length durable");
        Debug.Assert(JournalFileHeader.BlockBytes + frameBytes <= next.FramesEnd, "5: the frame ends before the last block");
        _before = _current ?? _files.Find(Position.Use);
        _header = new JournalFileHeader(
            _settings.StoreId, Position.Use + 1, _settings.DrawSalt(), Position.Frame, Position.PreviousHash,
            _settings.Cipher?.Incarnation ?? 0, _settings.Cipher?.Block, next.LengthBytes);
        _cipher?.Dispose();
        _cipher = _settings.Cipher?.NewFrameCipher(_header);
        next.Header = _header;
        _current = next;
        _uses++;
        Position = Position with { Use = _header.Use, Offset = 0 };
        _needsSpares = true;
    }

    /// <summary>
    /// Begins the first use of this session, or the first after a change of keys, unless already done, and makes its header
    /// durable before it has a frame. Throws <see cref="DiskFullException"/> with nothing changed; after any other exception
    /// the journal must not be used.
    /// </summary>
    public void BeginUse()
    {
        if (HasUse)
            return;

        BeginSession();
        if (HasUse)
            return;

        Buffer.Clear();
        MakeRoom();
        Debug.Assert(Position.Offset == 0, "1: a use begins at the start of a file");
        JournalFile file = _current!; // set by MakeRoom
        _header.Write(Buffer.Block);
        file.WriteDurable(Buffer.Block, 0);
        Position = Position with { Offset = JournalFileHeader.BlockBytes };
    }

    /// <summary>
    /// Writes and syncs the frame in <see cref="Buffer"/>. After any exception the journal must not be used: what the disk
    /// holds is unknown.
    /// </summary>
    public void Append(long firstTransaction, long lastTransaction)
    {
        JournalFile file = _current ?? throw new InvalidOperationException("MakeRoom comes first.");
        Debug.Assert(
            (_cipher is null) == (_settings.Cipher is null), "the frames of an environment with a key are sealed");
        Debug.Assert(_isRecoveredDurable, "2: what recovery read is durable before anything is written");
        Debug.Assert(file.Header?.Use == Position.Use, "5: the frame goes into the file of its use");
        Debug.Assert(firstTransaction <= lastTransaction, "5: a frame has transactions");
        Debug.Assert(_durableUpTo == 0 || firstTransaction == _durableUpTo + 1, "5: transactions follow each other");
        long timeMs = Math.Max(LastTimeMs, _settings.Clock.GetUtcNow().ToUnixTimeMilliseconds());
        var header = new FrameHeader(
            _header.Salt, Position.Frame, firstTransaction, lastTransaction, _durableUpTo, Buffer.Length - FrameHeader.SizeBytes,
            Position.PreviousHash, _cipher is not null, timeMs);
        ulong hash = Seal(header);
        bool isFirst = Position.Offset == 0;
        if (isFirst)
            _header.Write(Buffer.Block);

        ReadOnlySpan<byte> written = Buffer.Padded(withBlock: isFirst);
        Debug.Assert(Position.Offset % FrameHeader.AlignmentBytes == 0, "5: frames begin at blocks");
        Debug.Assert(Position.Offset + written.Length <= file.FramesEnd, "5: the frame ends before the last block");
        file.WriteDurable(written, Position.Offset);
        if (_before is { } before)
            Leave(before);
        if (_needsSpares)
            RequestSpares();

        _durableUpTo = lastTransaction;
        LastTimeMs = timeMs;
        BytesSinceCheckpoint += written.Length;
        BytesWritten += written.Length;
        FramesWritten++;
        Position = new JournalPosition(Position.Use, Position.Offset + written.Length, Position.Frame + 1, hash);
    }

    /// <summary>
    /// Returns the position of the next frame for a checkpoint that begins now. It writes the pages of all recovered frames,
    /// and a meta page that names this position must find the next frame there: so the last recovered frame is no longer
    /// repeated.
    /// </summary>
    public JournalPosition BeginCheckpoint()
    {
        _tail = null;
        return Position;
    }

    /// <summary>Called when a checkpoint at this position is durable: files of earlier uses may be reused.</summary>
    public void OnCheckpoint(JournalPosition position, long bytesBefore)
    {
        Debug.Assert(
            position.Use >= OldestNeededUse && position.Use <= Position.Use, "6: checkpoints go forward, up to the newest use");
        Debug.Assert(bytesBefore >= 0, "a checkpoint takes bytes of frames away");
        OldestNeededUse = position.Use;
        BytesSinceCheckpoint -= bytesBefore;
        Debug.Assert(BytesSinceCheckpoint >= 0, "bytes of frames are counted once");
        _files.Release(position.Use);
    }

    public void Dispose()
    {
        Buffer.Dispose();
        _cipher?.Dispose();
    }

    /// <summary>
    /// Repeats the last frame of the previous session. The header is written after it: until then the original frame counts.
    /// </summary>
    private void Repeat(JournalTail tail)
    {
        Debug.Assert(!_isRecoveredDurable, "2: the last frame found is repeated once");
        var found = new byte[FrameHeader.SizeBytes + tail.Header.PayloadBytes];
        if (tail.File.File.Read(found, tail.At.Offset) < found.Length
            || !FrameHeader.TryOpen(found, out _)
            || !TryDecrypt(tail, found))
            throw new CorruptionException(
                $"The last frame of '{tail.File.File.Name}', transaction {tail.Header.LastTransaction}, cannot be read a second "
                    + $"time. Nothing was written. Close the environment and check the disk.");

        Buffer.Clear();
        found.AsSpan(FrameHeader.SizeBytes).CopyTo(Buffer.Room(tail.Header.PayloadBytes));
        Buffer.Advance(tail.Header.PayloadBytes);
        if (_settings.Cipher is not null)
            found.AsSpan().Clear();
        JournalPosition end = Position;
        try
        {
            Position = tail.At;
            MakeRoom();
        }
        catch
        {
            Position = end;
            throw;
        }

        JournalFile file = _current!; // set by MakeRoom
        Debug.Assert(Position == tail.At with { Use = _header.Use, Offset = 0 }, "2: the frame is the first of the new use");
        ulong hash = Seal(tail.Header with { Salt = _header.Salt });
        ReadOnlySpan<byte> frame = Buffer.Padded(withBlock: false);
        file.WriteDurable(frame, JournalFileHeader.BlockBytes);
        _header.Write(Buffer.Block);
        file.WriteDurable(Buffer.Block, 0);
        if (_before is { } before)
            Leave(before);
        _durableUpTo = tail.Header.LastTransaction;
        BytesSinceCheckpoint += frame.Length;
        Position = new JournalPosition(Position.Use, JournalFileHeader.BlockBytes + frame.Length, Position.Frame + 1, hash);
    }

    /// <summary>Completes the frame in <see cref="Buffer"/> as stored in the file; returns its hash.</summary>
    private ulong Seal(in FrameHeader header)
    {
        header.Write(Buffer.Content);
        _cipher?.Seal(Buffer.Content);
        return FrameHeader.Seal(Buffer.Content);
    }

    private bool TryDecrypt(JournalTail tail, Span<byte> frame)
    {
        if (_settings.Cipher is not { } cipher || tail.File.Header is not { } header)
            return true;

        using FrameCipher opener = cipher.NewFrameCipher(header);
        return opener.TryOpen(frame);
    }

    /// <summary>Establishes invariant 3, unless a checkpoint has already named a later use.</summary>
    private void Leave(JournalFile before)
    {
        _before = null;
        if (before.Header is not { } left || left.Use != _header.Use - 1 || left.Use < OldestNeededUse)
            return; // the file is reused, or may be, because a checkpoint has named this use

        Debug.Assert(before != _current, "3: the file that is left is not the one that follows");
        new JournalNextUse(left.Salt, _header.Use, _header.FirstFrame, _header.PreviousHash).Write(Buffer.Block);
        before.WriteDurable(Buffer.Block, JournalNextUse.OffsetIn(before.LengthBytes));
    }

    private void RequestSpares()
    {
        _needsSpares = false;
        long lengthBytes = NextFileBytes;
        _settings.Background(() => TryPrepareSpares(lengthBytes));
    }

    /// <summary>
    /// Prepares spare files. A full or failing disk must not fail a frame that already has room: acknowledged data never
    /// needs spares, and the next use reports the error if it persists.
    /// </summary>
    private void TryPrepareSpares(long lengthBytes)
    {
        try
        {
            _files.PrepareSpares(Spares, lengthBytes, OldestNeededUse);
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            // The next use reports it if it persists.
        }
    }
}
