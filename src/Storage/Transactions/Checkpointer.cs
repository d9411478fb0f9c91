using System.Buffers;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Storage.Journal;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Writes scratch pages to the data file, makes them durable, and releases scratch frames and journal files. Commits and
/// reads continue meanwhile; it leads the commit queue only to collect what must be written and to release what was written.
/// </summary>
/// <remarks>
/// Recovery relies on this order: 1. pages and bitmap are written where nothing durable lies; 2. sync; 3. the older of the
/// two meta pages is written; 4. sync; 5. frames, pages and journal files of the previous checkpoint may be reused.
/// After a failure before step 3 the previous checkpoint stays in force. After a failure in step 3 or 4 a recovery may find
/// either, so the pages that both refer to are kept. Every step can be retried.
/// </remarks>
internal sealed class Checkpointer(
    EnvironmentState state, IFileSystem files, IFile file, JournalWriter? journal, JournalPosition recovered,
    StoreCipher? cipher) : IDisposable
{
    private const int StagingBytes = 1 << 20;

    private readonly List<Captured> _captured = [];
    /// <summary>
    /// Fewer free pages than this at the end of the file are kept for reuse rather than cut off: 64 MiB, the largest step by
    /// which the file grows.
    /// </summary>
    private const long MinCutPages = 8192;

    private readonly List<BitmapPage> _bitmap = [];
    private readonly HashSet<int> _damaged = [];

    /// <summary>
    /// Pages written by failed attempts, page number to birth, whose meta page may or may not be on disk. They are not
    /// written again: even a write of the same bytes can be torn, and a recovery may find that meta page.
    /// </summary>
    private readonly Dictionary<long, long> _placed = [];
    private readonly PageCipher? _pages = cipher?.NewPageCipher();
    private Snapshot _snapshot = state.Current;
    private MetaPage _meta = state.Durable;
    private long _journalBytes;

    /// <summary>
    /// Index, 0 or 1, of the bitmap that is not in force; selects which dirty marks of the groups apply to it.
    /// </summary>
    private int _otherPlace = 1;
    private bool _keepsBitmap;
    private bool _isDoubtful;
    private bool _isFoundDurable;

    /// <summary>Number of pages that the newest state or the last checkpoint may refer to.</summary>
    private long UsedPages => Math.Max(state.Space.PageCount, state.Durable.PageCount);

    /// <summary>Whether the newest state is known to be in the data file.</summary>
    public bool IsUpToDate => state.Current.TransactionId == state.Durable.LastTransaction && state.Doubtful.Count == 0;

    /// <summary>Bitmaps at or beyond this page are moved when next written, so that the file can shrink.</summary>
    public long MoveBitmapsFrom { get; set; } = long.MaxValue;

    public void Dispose() => _pages?.Dispose();

    /// <summary>Collects what must be written. Must be called by the leader.</summary>
    public void Begin(bool isClean)
    {
        _isDoubtful = false; // GiveUp undoes this attempt, and not the one before, whatever fails from here on
        _bitmap.Clear();
        state.Reclaim();
        state.Space.TrimEnd();
        MetaPage durable = state.Durable;
        state.Space.Load(durable.Bitmap); // End or GiveUp may retire one of the two, and must not fail
        state.Space.Load(durable.OtherBitmap);
        BeginSession(isClean);
        _keepsBitmap = IsUpToDate
            && durable.OtherBitmap.Pages > 0
            && MoveBitmapsFrom == long.MaxValue
            && !state.Space.IsAnyDirty(1 - _otherPlace);
        PageRun bitmap = _keepsBitmap ? durable.Bitmap : MakeBitmapRoom(durable.OtherBitmap);
        durable = state.Durable;
        state.Store.GrowFile(state.Space.PageCount); // pages placed by recovery may lie beyond the file's end
        _snapshot = state.Current;
        _meta = durable with
        {
            Checkpoint = durable.Checkpoint + 1,
            LastTransaction = _snapshot.TransactionId,
            Catalogue = _snapshot.Catalogue,
            System = _snapshot.System,
            NextTreeId = _snapshot.NextTreeId,
            PageCount = state.Space.PageCount,
            LivePages = state.Space.LivePages,
            IsClean = isClean,
            Journal = journal?.BeginCheckpoint() ?? recovered,
            Bitmap = bitmap,
            OtherBitmap = _keepsBitmap ? durable.OtherBitmap : durable.Bitmap,
        };
        _meta = cipher?.Seal(_meta) ?? _meta;
        _journalBytes = journal?.BytesSinceCheckpoint ?? 0;
        Debug.Assert(state.CheckpointUnderWay < 0, "one checkpoint is under way");
        Debug.Assert(_meta.FindFault() is null, "3: a recovery accepts the meta page");
        Debug.Assert(_meta.LastTransaction >= durable.LastTransaction, "checkpoints ascend");
        Debug.Assert(_meta.Slot != state.Durable.Slot, "3: the older of the two meta pages is written");
        Debug.Assert(
            _meta.Bitmap.First != _meta.OtherBitmap.First, "1: the bitmap is written where nothing durable lies");
        Debug.Assert(_keepsBitmap || bitmap.Pages >= state.Space.BitmapPages, "a bitmap has a page for every group");
        CapturePages();
        state.CheckpointUnderWay = _snapshot.TransactionId;
        try
        {
            CaptureBitmap(); // last: if anything failed after it, the marks that it took would be lost
        }
        catch
        {
            GiveUp();
            throw;
        }
    }

    /// <summary>Writes and syncs. The caller need not be the leader.</summary>
    public void Write(CancellationToken cancellationToken)
    {
        Debug.Assert(!_isDoubtful, "3: the meta page is written after the pages");
        _captured.Sort(static (a, b) => a.Page.CompareTo(b.Page));
        WritePages(cancellationToken);
        RequireWholeScratch();
        WriteBitmap();
        file.Sync();

        var page = new byte[PageLayout.SizeBytes];
        _meta.Write(page);
        _isDoubtful = true;
        file.Write(page, (long)_meta.Slot * PageLayout.SizeBytes);
        file.Sync();
    }

    /// <summary>Publishes the durable checkpoint and releases what it replaces. Must be called by the leader.</summary>
    public void End()
    {
        Debug.Assert(state.CheckpointUnderWay == _snapshot.TransactionId, "a checkpoint ends after it began");
        Debug.Assert(_isDoubtful, "5: what the checkpoint before needs is given back when the new meta page is durable");
        var frames = new List<uint>(_captured.Count);
        foreach (Captured captured in _captured)
        {
            state.Store.MoveToMap(captured.Page);
            frames.Add(captured.Frame);
        }

        state.Retire(frames);
        if (!_keepsBitmap)
            _otherPlace = 1 - _otherPlace;
        state.Durable = _meta;
        state.CheckpointUnderWay = -1;
        state.Doubtful.Clear();
        _placed.Clear();
        _damaged.Clear(); // the bitmap in force was written from memory where the one before was damaged
        _isDoubtful = false;
        state.Space.FreeRetired();
        journal?.OnCheckpoint(_meta.Journal, _journalBytes);
        state.Reclaim();
        if (state.Store.FilePages - UsedPages > Math.Max(MinCutPages, UsedPages / 2))
            Cut(UsedPages / 4);
    }

    /// <summary>
    /// Returns everything beyond the last page in use, except <paramref name="keptPages"/>, to the system. On failure nothing
    /// is lost, and a later checkpoint tries again. Must be called by the leader, with no frame being flushed.
    /// </summary>
    public void Cut(long keptPages)
    {
        try
        {
            state.Store.ShrinkFile(UsedPages + keptPages);
        }
        catch (Exception)
        {
            // The file stays as long as it was.
        }
    }

    /// <summary>Abandons a failed attempt; the previous checkpoint stays in force. Must be called by the leader.</summary>
    public void GiveUp()
    {
        state.CheckpointUnderWay = -1;
        foreach (BitmapPage page in _bitmap)
            state.Space.MarkDirty(page.Group, _otherPlace);
        if (!_isDoubtful)
            return;

        // What its meta page refers to must stay unchanged, the bitmap too: the next attempt writes its bitmap elsewhere.
        foreach (Captured captured in _captured)
            _placed[captured.Page] = captured.Birth;
        state.Doubtful.Add(_meta.LastTransaction);
        if (_keepsBitmap)
            return;

        state.Space.Retire(_meta.Bitmap);
        state.Durable = state.Durable with { OtherBitmap = default };
    }

    /// <summary>
    /// For a checkpoint with nothing to write: the state found at opening may be only in the system's cache, and without a
    /// journal it is stored nowhere else. Must be called by the leader.
    /// </summary>
    public void MakeFoundDurable()
    {
        if (journal is not null || _isFoundDurable)
            return;

        DataFile.MakeDurable(files, file, state.Durable);
        _isFoundDurable = true;
    }

    /// <summary>
    /// The state found at opening must be durable before pages used only by the previous checkpoint are overwritten. And the
    /// meta page must not name a journal use whose header is only in the system's cache, as a killed process may leave it, or
    /// whose file was removed by a clean close.
    /// </summary>
    private void BeginSession(bool isClean)
    {
        MakeFoundDurable();
        try
        {
            if (!isClean && (state.Durable.IsClean || journal is { IsOpen: false }))
                journal?.BeginUse();
            else
                journal?.BeginSession();
        }
        catch (Exception error) when (error is not (DiskFullException or OpenFileLimitException))
        {
            state.Failure = error;
            throw;
        }
    }

    /// <summary>
    /// Returns the run to write this checkpoint's bitmap to: the one not in force, or a newly allocated one if that is too
    /// small or lies at or beyond <see cref="MoveBitmapsFrom"/>.
    /// </summary>
    private PageRun MakeBitmapRoom(PageRun run)
    {
        bool isLarge = state.Space.BitmapPages <= run.Pages;
        if (isLarge && run.First < MoveBitmapsFrom)
            return run;

        int needed = state.Space.NewBitmapPages;
        int pages = isLarge ? needed : Math.Max(needed + 1, run.Pages * 2);
        var other = new PageRun(state.Space.Allocate(pages), pages);
        try
        {
            state.Store.GrowFile(state.Space.PageCount);
        }
        catch
        {
            state.Space.Return(other);
            throw;
        }

        if (run.Pages > 0)
            state.Space.Retire(run);
        state.Space.MarkAllDirty(_otherPlace);
        state.Durable = state.Durable with { OtherBitmap = other }; // in memory only, for the next attempt if this one fails
        return other;
    }

    /// <summary>Collects the pages and runs in scratch that the newest state refers to.</summary>
    private void CapturePages()
    {
        _captured.Clear();
        Scratch scratch = state.Store.Scratch;
        for (uint frame = 0; frame < scratch.FrameCount; frame++)
        {
            ref Scratch.FrameRecord record = ref scratch.Record(frame);
            if (record.Pages > 0 && record.Page >= 0 && state.Store.FrameOf(record.Page) == frame)
                _captured.Add(new Captured(record.Page, frame, record.Birth));
        }
    }

    /// <summary>
    /// Collects the bitmap pages to write. Groups not loaded in memory are copied later from the bitmap on disk, without
    /// leading; if one proves damaged, the next attempt takes it from memory.
    /// </summary>
    private void CaptureBitmap()
    {
        _bitmap.EnsureCapacity(state.Space.BitmapPages);
        for (int group = 0; group < state.Space.BitmapPages && !_keepsBitmap; group++)
        {
            if (!state.Space.TakeDirty(group, _otherPlace))
                continue;

            _bitmap.Add(new BitmapPage(group, null)); // first: GiveUp marks it as dirty again if it cannot be copied
            if (!state.Space.IsLoaded(group) && !_damaged.Contains(group))
                continue;

            var words = new ulong[PageGroup.Words];
            state.Space.CopyBitmap(group, words);
            _bitmap[^1] = new BitmapPage(group, words);
        }
    }

    /// <summary>
    /// Stops writing if the system could not write out scratch that lies in a file: it may have dropped those pages since, so
    /// that what was read from them, and would become the durable state, is not what was committed. The journal has it.
    /// </summary>
    private void RequireWholeScratch()
    {
        try
        {
            state.Store.Scratch.ThrowIfNotWrittenOut();
        }
        catch (StorageException error)
        {
            state.Failure = error;
            throw;
        }
    }

    private void WritePages(CancellationToken cancellationToken)
    {
        long totalBytes = 0;
        foreach (Captured captured in _captured)
            totalBytes += (long)state.Store.Scratch.Record(captured.Frame).Pages * PageLayout.SizeBytes;
        byte[] staging = ArrayPool<byte>.Shared.Rent((int)Math.Min(StagingBytes, totalBytes));
        try
        {
            WritePages(staging, cancellationToken);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(staging);
        }
    }

    private void WritePages(byte[] staging, CancellationToken cancellationToken)
    {
        int staged = 0;
        long start = 0;
        foreach (Captured captured in _captured)
        {
            if (_placed.TryGetValue(captured.Page, out long birth) && birth == captured.Birth)
                continue;

            int pages = state.Store.Scratch.Record(captured.Frame).Pages;
            Debug.Assert(pages > 0, "a captured frame stays in use while it is written");
            Debug.Assert(captured.Page + pages <= _meta.PageCount, "1: pages of the checkpoint are written");
            int lengthBytes = pages * PageLayout.SizeBytes;
            Span<byte> bytes = state.Store.Scratch.Bytes(captured.Frame, lengthBytes);
            long offset = captured.Page * PageLayout.SizeBytes;
            if (staged > 0 && (offset != start + staged || staged + lengthBytes > StagingBytes))
            {
                file.Write(staging.AsSpan(0, staged), start);
                staged = 0;
                cancellationToken.ThrowIfCancellationRequested();
            }

            if (lengthBytes > StagingBytes)
            {
                WriteLarge(bytes, offset);
                continue;
            }

            if (staged == 0)
                start = offset;
            Seal(bytes, staging.AsSpan(staged, lengthBytes));
            if (pages == 1)
                state.Store.Decrypted?.Adopt(captured.Page, bytes);
            staged += lengthBytes;
        }

        if (staged > 0)
            file.Write(staging.AsSpan(0, staged), start);
    }

    private void WriteBitmap()
    {
        var bytes = new byte[PageLayout.SizeBytes];
        Span<ulong> read = stackalloc ulong[PageGroup.Words];
        foreach ((int group, ulong[]? words) in _bitmap)
        {
            if (words is null && !state.Bitmaps.TryRead(group, read, out string fault))
            {
                _damaged.Add(group);
                throw new CorruptionException(fault);
            }

            bytes.AsSpan(0, PageLayout.HeaderBytes).Clear();
            MemoryMarshal.AsBytes(words ?? read).CopyTo(bytes.AsSpan(PageLayout.HeaderBytes));
            var page = new Page(bytes)
            {
                Number = _meta.Bitmap.First + group,
                Birth = _snapshot.TransactionId,
                Type = PageType.Bitmap,
            };
            if (cipher is not null)
                page.Tag = cipher.TagOfBitmap(bytes);
            page.Checksum = Page.ComputeChecksum(bytes);
            file.Write(bytes, page.Number * PageLayout.SizeBytes);
            state.Store.Forget(page.Number); // its verified state no longer applies
        }
    }

    private void WriteLarge(Span<byte> bytes, long offset)
    {
        if (_pages is null)
        {
            SetChecksum(bytes);
            file.Write(bytes, offset);
            return;
        }

        byte[] sealedBytes = ArrayPool<byte>.Shared.Rent(bytes.Length);
        try
        {
            Seal(bytes, sealedBytes.AsSpan(0, bytes.Length));
            file.Write(sealedBytes.AsSpan(0, bytes.Length), offset);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(sealedBytes);
        }
    }

    /// <summary>
    /// Writes the on-disk form of a page or run to <paramref name="destination"/>: encrypted if there is a cipher, with its
    /// checksum.
    /// </summary>
    private void Seal(Span<byte> bytes, Span<byte> destination)
    {
        if (_pages is not null)
        {
            _pages.Seal(bytes, destination);
            var sealedPage = new Page(destination);
            sealedPage.Checksum = Page.ComputeChecksum(destination);
            return;
        }

        bytes.CopyTo(destination);
        SetChecksum(destination);
    }

    private static void SetChecksum(Span<byte> bytes)
    {
        var page = new Page(bytes);
        page.Checksum = Page.ComputeChecksum(
            page.Type == PageType.Overflow ? bytes[..(PageLayout.HeaderBytes + page.ValueLength)] : bytes);
    }

    private readonly record struct Captured(long Page, uint Frame, long Birth);

    /// <summary>A bitmap page to write; null words mean that it is copied from the bitmap in force.</summary>
    private readonly record struct BitmapPage(int Group, ulong[]? Words);
}
