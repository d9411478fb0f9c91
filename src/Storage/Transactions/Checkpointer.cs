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
/// Writes the pages of scratch to the data file, makes that durable, and lets scratch and journal go. Commits and reads go on
/// meanwhile; it leads the commit queue only to note what there is to write, and to release what was written.
/// </summary>
/// <remarks>
/// Order, which recovery rests on: 1. pages and bitmap are written where nothing durable lies; 2. sync; 3. the older of the two
/// meta pages is written; 4. sync; 5. frames, pages and journal files of the checkpoint before may be used again.
/// A failure before step 3 leaves the checkpoint before in force, one in step 3 or 4 leaves open which of the two a recovery
/// finds: what either refers to stays. Everything can be tried again.
/// </remarks>
internal sealed class Checkpointer(
    EnvironmentState state, IFileSystem files, IFile file, JournalWriter? journal, JournalPosition recovered,
    StoreCipher? cipher) : IDisposable
{
    private const int StagingBytes = 1 << 20;

    private readonly List<Captured> _captured = [];
    /// <summary>
    /// Less than this at the end of the file is not worth cutting off while it may be used again: 64 MiB, the largest step it
    /// grows by.
    /// </summary>
    private const long MinCutPages = 8192;

    private readonly List<BitmapPage> _bitmap = [];
    private readonly HashSet<int> _damaged = [];

    /// <summary>
    /// Pages, by number, that attempts have made durable whose meta page may be on the disk or not, and their births. They are
    /// not written again: a write of the same bytes may be torn as any other, and a recovery may find that meta page.
    /// </summary>
    private readonly Dictionary<long, long> _placed = [];
    private readonly PageCipher? _pages = cipher?.NewPageCipher();
    private Snapshot _snapshot = state.Current;
    private MetaPage _meta = state.Durable;
    private long _journalBytes;

    /// <summary>The bitmap not in force, 0 or 1: which of the marks of changed groups is about it.</summary>
    private int _otherPlace = 1;
    private bool _keepsBitmap;
    private bool _isDoubtful;
    private bool _isFoundDurable;

    /// <summary>Pages that the newest state or the last checkpoint may refer to.</summary>
    private long UsedPages => Math.Max(state.Space.PageCount, state.Durable.PageCount);

    /// <summary>Whether the newest state is in the data file already, for sure.</summary>
    public bool IsUpToDate => state.Current.TransactionId == state.Durable.LastTransaction && state.Doubtful.Count == 0;

    /// <summary>
    /// Bitmaps at or beyond this page are put elsewhere when they are written next: the file is to become shorter.
    /// </summary>
    public long MoveBitmapsFrom { get; set; } = long.MaxValue;

    public void Dispose() => _pages?.Dispose();

    /// <summary>Notes what there is to write. For the leader.</summary>
    public void Begin(bool isClean)
    {
        state.Reclaim();
        state.Space.TrimEnd();
        MetaPage durable = state.Durable;
        state.Space.Load(durable.Bitmap); // one of the two is retired here or in GiveUp, which must not fail
        state.Space.Load(durable.OtherBitmap);
        _isDoubtful = false;
        BeginSession(isClean);
        _keepsBitmap = IsUpToDate
            && durable.OtherBitmap.Pages > 0
            && MoveBitmapsFrom == long.MaxValue
            && !state.Space.IsAnyDirty(1 - _otherPlace);
        PageRun bitmap = _keepsBitmap ? durable.Bitmap : MakeBitmapRoom(durable.OtherBitmap);
        durable = state.Durable;
        state.Store.GrowFile(state.Space.PageCount); // pages that recovery placed may lie beyond the file's end
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
        state.CheckpointUnderWay = _snapshot.TransactionId;
        try
        {
            CaptureBitmap();
        }
        catch
        {
            GiveUp();
            throw;
        }

        _captured.Clear();
        Scratch scratch = state.Store.Scratch;
        for (uint frame = 0; frame < scratch.FrameCount; frame++)
        {
            ref Scratch.FrameRecord record = ref scratch.Record(frame);
            if (record.Pages > 0 && record.Page >= 0 && state.Store.FrameOf(record.Page) == frame)
                _captured.Add(new Captured(record.Page, frame, record.Birth));
        }
    }

    /// <summary>Writes and syncs. Needs no lead.</summary>
    public void Write(CancellationToken cancellationToken)
    {
        Debug.Assert(!_isDoubtful, "3: the meta page is written after the pages");
        _captured.Sort(static (a, b) => a.Page.CompareTo(b.Page));
        WritePages(cancellationToken);
        WriteBitmap();
        file.Sync();

        var page = new byte[PageLayout.SizeBytes];
        _meta.Write(page);
        _isDoubtful = true;
        file.Write(page, (long)_meta.Slot * PageLayout.SizeBytes);
        file.Sync();
    }

    /// <summary>Hands out what is durable now. For the leader.</summary>
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
        state.Space.FreeRetired();
        journal?.OnCheckpoint(_meta.Journal, _journalBytes);
        state.Reclaim();
        if (state.Store.FilePages - UsedPages > Math.Max(MinCutPages, UsedPages / 2))
            Cut(UsedPages / 4);
    }

    /// <summary>
    /// Gives what lies beyond the last page in use, and some pages to grow into, back to the system. Where that fails nothing is
    /// lost, and a later checkpoint tries again. For the leader, with no frame being flushed.
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

    /// <summary>Forgets an attempt that failed; the checkpoint before stays in force. For the leader.</summary>
    public void GiveUp()
    {
        state.CheckpointUnderWay = -1;
        foreach (BitmapPage page in _bitmap)
            state.Space.MarkDirty(page.Group, _otherPlace);
        if (!_isDoubtful)
            return;

        // What its meta page refers to stays as it is, the bitmap too: the next attempt takes another place for it.
        foreach (Captured captured in _captured)
            _placed[captured.Page] = captured.Birth;
        state.Doubtful.Add(_meta.LastTransaction);
        if (_keepsBitmap)
            return;

        state.Space.Retire(_meta.Bitmap);
        state.Durable = state.Durable with { OtherBitmap = default };
    }

    /// <summary>
    /// For a checkpoint that has nothing to write: what opening found may be in the system's cache only, and without a journal it
    /// is nowhere else. For the leader.
    /// </summary>
    public void MakeFoundDurable()
    {
        if (journal is not null || _isFoundDurable)
            return;

        DataFile.MakeDurable(files, file, state.Durable);
        _isFoundDurable = true;
    }

    /// <summary>
    /// What opening found must be durable before a page is written where only the checkpoint before it lies; and the meta page
    /// must not name a use of the journal whose header only the system's cache has, as a killed process may leave it, or whose
    /// file a clean close gave back.
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
    /// The run that this checkpoint's bitmap goes to: the one not in force, or another in its place where it is too small or too
    /// far out.
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
        state.Durable = state.Durable with { OtherBitmap = other }; // in memory only: an attempt after a failed one finds it
        return other;
    }

    /// <summary>
    /// Notes the bitmap pages to write. Groups that nothing touched since they were read from disk are copied there later,
    /// without leading; where that finds damage, the next attempt comes with them in memory.
    /// </summary>
    private void CaptureBitmap()
    {
        _bitmap.Clear();
        for (int group = 0; group < state.Space.BitmapPages && !_keepsBitmap; group++)
        {
            if (!state.Space.TakeDirty(group, _otherPlace))
                continue;

            ulong[]? words = null;
            if (state.Space.IsLoaded(group) || _damaged.Remove(group))
                state.Space.CopyBitmap(group, words = new ulong[PageGroup.Words]);
            _bitmap.Add(new BitmapPage(group, words));
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
            state.Store.Forget(page.Number); // what was proven there is no longer
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

    /// <summary>A page, or a run, as it goes to the file.</summary>
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

    /// <summary>A bitmap page to write; words null: as it is in the bitmap in force.</summary>
    private readonly record struct BitmapPage(int Group, ulong[]? Words);
}
