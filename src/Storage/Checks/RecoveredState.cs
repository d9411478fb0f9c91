using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Journal;
using Treepie.Storage.Paging;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Checks;

/// <summary>
/// The newest state that can still be read from a directory in which anything may be damaged. Works like recovery, but where
/// recovery must refuse, it reports a problem and continues with what is left. Writes nothing. A page that cannot be restored
/// reads as damaged.
/// </summary>
internal sealed class RecoveredState : IDisposable
{
    private readonly IFileSystem _files;
    private readonly Action<CheckProblem> _report;
    private readonly IDisposable _lock;
    private readonly IFile _data;
    private readonly string _path;
    private readonly StoreCipher? _cipher;
    private readonly HashSet<long> _unmade = [];
    private FrameSearch? _search;
    private IReadOnlyList<FrameSearch.FoundFrame> _frames = [];

    private RecoveredState(World world, EncryptionKey? key, Action<CheckProblem> report, IDisposable fileLock, IFile data)
    {
        IFileSystem files = world.Files;
        _files = files;
        _report = report;
        _lock = fileLock;
        _data = data;
        _path = Path.Combine(files.Path, data.Name);
        ReadMeta();
        _cipher = Meta is { } meta ? StoreCipher.Open(world, meta, key) : FindFrames(world, key);
        try
        {
            Store = new PageStore(
                files, data,
                new StorageOptions { MaxDataFileBytes = ReserveBytes(files), MemoryBudgetBytes = long.MaxValue, ReadOnly = true },
                _cipher);
        }
        catch
        {
            _cipher?.Dispose();
            throw;
        }

        PageCount = data.Length / PageLayout.SizeBytes;
        Store.GrowTable(PageCount);
        Live = LiveMap.Unknown(PageCount);
    }

    public PageStore Store { get; }

    /// <summary>The meta page the state starts from, or null if neither can be read.</summary>
    public MetaPage? Meta { get; private set; }

    /// <summary>
    /// The state after the last readable frame of the journal, or else that of the checkpoint. Null if no root is known.
    /// </summary>
    public Snapshot? State { get; private set; }

    /// <summary>Which pages the state uses.</summary>
    public LiveMap Live { get; private set; }

    /// <summary>
    /// Whether a page from the journal could not be rebuilt. Then the bitmap is less reliable about which leaves the state
    /// uses.
    /// </summary>
    public bool HasBrokenPages { get; private set; }

    /// <summary>The number of pages to examine: those of the file and those that only frames contain.</summary>
    public long PageCount { get; private set; }

    /// <summary>
    /// The largest data file size that is accepted: 256 GiB, or the actual length of the file if larger. A damaged meta page may
    /// claim more.
    /// </summary>
    public static long ReserveBytes(IFileSystem files)
    {
        const long usual = 256L << 30;
        if (!files.List().Contains(FormatLimits.DataFileName))
            return usual;

        using IFile file = files.Open(FormatLimits.DataFileName, create: false, writable: false);
        return Math.Max(usual, file.Length / PageLayout.SizeBytes * PageLayout.SizeBytes);
    }

    /// <summary>Opens a directory that no other process has open.</summary>
    public static RecoveredState Open(World world, EncryptionKey? key, Action<CheckProblem> report)
    {
        IFileSystem files = world.Files;
        files.Calls.RequireLittleEndian();
        if (!files.List().Contains(FormatLimits.DataFileName))
            throw new StorageException($"There is no store in '{files.Path}': '{FormatLimits.DataFileName}' is missing.");

        IDisposable fileLock = files.Lock(FormatLimits.LockFileName, shared: true);
        IFile? data = null;
        RecoveredState? state = null;
        try
        {
            data = files.Open(FormatLimits.DataFileName, create: false, writable: false);
            state = new RecoveredState(world, key, report, fileLock, data);
            state.Recover();
            return state;
        }
        catch
        {
            if (state is not null)
            {
                state.Dispose();
            }
            else
            {
                data?.Dispose();
                fileLock.Dispose();
            }

            throw;
        }
    }

    public void Dispose()
    {
        Store.Dispose();
        _cipher?.Dispose();
        _data.Dispose();
        _lock.Dispose();
    }

    private void Recover()
    {
        if (Meta is not { } meta)
        {
            RecoverWithoutMeta();
            return;
        }

        if (_data.Length / PageLayout.SizeBytes < meta.PageCount)
            Report(
                null,
                $"The file is cut short: it has {_data.Length} bytes, not the {meta.PageCount} pages of {PageLayout.SizeBytes} "
                    + $"that it should have.");
        State = new Snapshot(meta.LastTransaction, meta.Catalogue, meta.NextTreeId, meta.PageCount) { System = meta.System };
        PageCount = Math.Max(PageCount, Math.Min(meta.PageCount, Store.LimitPages));
        Store.GrowTable(PageCount);
        Live = LiveMap.Read(Store, meta);
        foreach (long page in Live.Damaged)
            Report(
                page, "It is a page of the bitmap and cannot be read: which of the pages it speaks of are in use is not known.");
        ReadJournal(meta);
    }

    /// <summary>
    /// Recovers the state of the newest frame left, unless the data file has a root born after it, as after writing without a
    /// journal. Nothing tells which frames the data file already contains, but each page does: its number and birth identify
    /// one content.
    /// </summary>
    private void RecoverWithoutMeta()
    {
        State = new RootSearch(Store, PageCount).Run();
        IReadOnlyList<FrameSearch.FoundFrame> frames = _frames;
        if (frames.Count == 0 || frames[^1].Header.LastTransaction < State?.TransactionId)
        {
            Report(null, State is null
                ? "No meta page and no root of the catalogue can be read: what is found has no names."
                : $"No meta page can be read. The newest root of the catalogue that is left is of transaction "
                    + $"{State.TransactionId}, and no journal goes beyond it; whether there were later transactions is not "
                    + $"known.");
            return;
        }

        foreach (FrameSearch.FoundFrame frame in frames)
            Apply(frame.Header, _search!.ReadPayload(frame, _cipher)); // set if there are frames
        HasBrokenPages = _unmade.Count > 0;
        Report(null,
            $"No meta page can be read. What is found is the state after transaction {frames[^1].Header.LastTransaction}, the "
                + $"last in the journal: its frames from transaction {frames[0].Header.FirstTransaction} on are there, each "
                + $"proven by the next.");
        if (_unmade.Count > 0)
            Report(
                _unmade.Min(),
                $"It and {_unmade.Count - 1} other pages that the journal changed cannot be put together: what they were copied "
                    + $"from is neither in the file nor in a frame that is left.");
        if (_search?.FindLostUse() is { } lost)
            Report(
                null,
                $"The journal went on in use {lost}, of which no frame is left: later transactions were acknowledged and are "
                    + $"lost.");
    }

    /// <summary>
    /// Searches the journal for frames and for the wrapped keys in its file headers, when there is no meta page.
    /// </summary>
    private StoreCipher? FindFrames(World world, EncryptionKey? key)
    {
        _search = new FrameSearch(
            _files, (file, what) => _report(new CheckProblem(Path.Combine(_files.Path, file), null, null, what)));
        _frames = _search.Run();
        if (_search.FindKeys() is { } found)
            return StoreCipher.Open(world, found.StoreId, found.Keys, key);
        if (key is not null)
            Report(
                null,
                "No meta page can be read, and no journal file that has a copy of the wrapped keys: nothing that is encrypted "
                    + "can be read without one of them.");
        return null;
    }

    private void ReadMeta()
    {
        var bytes = new byte[PageLayout.SizeBytes];
        var damaged = new List<int>();
        for (int slot = 0; slot < 2; slot++)
        {
            bool isWhole = _data.Read(bytes, (long)slot * PageLayout.SizeBytes) == bytes.Length;
            if (isWhole && MetaPage.TryRead(bytes, slot, _path) is { } meta && meta.FindFault() is null)
            {
                if (meta.Checkpoint >= (Meta?.Checkpoint ?? 0))
                    Meta = meta;
            }
            else
            {
                damaged.Add(slot);
            }
        }

        foreach (int slot in damaged)
            if (Meta is null || Meta.Checkpoint > 0)
                Report(
                    slot,
                    Meta is null
                        ? "It is a meta page and cannot be read."
                        : "It is a meta page and cannot be read. If it was the newer of the two, what is found is the state of "
                            + "the checkpoint before, and of the journal as far as that is still there.");
    }

    private void ReadJournal(MetaPage meta)
    {
        using var journal = new JournalFiles(_files);
        try
        {
            var reader = new JournalReader(_files, journal.OpenAll(meta.StoreId, writable: false), _cipher);
            reader.Read(meta.Journal, meta.LastTransaction, meta.IsClean, Apply);
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            _report(new CheckProblem(
                Path.Combine(_files.Path, FormatLimits.JournalPrefix + "*" + FormatLimits.JournalSuffix), null, null,
                    // set before the journal is read
                    $"It is read up to transaction {State!.TransactionId}; what came later is lost. {error.Message}"));
        }
    }

    private void Apply(FrameHeader header, ReadOnlySpan<byte> payload)
    {
        if (JournalPayload.FindFault(payload) is { } fault)
            throw Store.CorruptFrame(header.Frame, header.FirstTransaction, fault);

        var content = new JournalContent(payload);
        PageCount = Math.Max(PageCount, content.PageCount);
        Store.GrowTable(PageCount);
        ReadOnlySpan<byte> rest = content.FirstChanged;
        for (int i = 0; i < content.ChangedPages; i++)
            rest = rest[ApplyPage(header.FirstTransaction, rest)..];
        for (int i = 0; i < content.FreedRuns; i++)
        {
            PageRun run = content.Freed(i);
            Store.Forget(run.First);
            Live.Set(run, isLive: false);
            for (long page = run.First; _unmade.Count > 0 && page < run.First + run.Pages; page++)
                _unmade.Remove(page);
        }

        State = new Snapshot(header.LastTransaction, content.Catalogue, content.NextTreeId, PageCount)
        {
            System = content.System
        };
    }

    private int ApplyPage(long birth, ReadOnlySpan<byte> source)
    {
        var changed = new ChangedPage(source);
        PageRun run = changed.Run;
        long number = run.First;
        Store.Forget(number);
        Live.Set(run, isLive: true);
        _unmade.Remove(number);
        bool isInFile = Meta is null && Store.TryRead(number, out Span<byte> there) && new Page(there).Birth == birth;
        Span<byte> bytes = Store.Place(number, run.Pages, birth, out _);
        bytes.Clear();
        bool isOriginalThere = changed.From == 0 || TryCopyOriginal(changed.From, changed.FromBirth, bytes);
        int length = JournalPayload.Apply(source, bytes);
        if (isInFile)
        {
            Store.Forget(number); // a checkpoint has already written the same content
            return length;
        }

        if (!isOriginalThere || changed.FindFault(bytes, birth) is not null)
        {
            bytes.Clear(); // no valid page has a header of zeros, so a reader finds it damaged
            if (Meta is null)
            {
                _unmade.Add(number); // a later frame may free or replace it
                return length;
            }

            HasBrokenPages = true;
            Report(
                number,
                $"Transaction {birth} changed it, and what it was copied from, page {changed.From}, is damaged: it cannot be put "
                    + $"together.");
        }

        return length;
    }

    private bool TryCopyOriginal(long from, long birth, Span<byte> destination)
    {
        if (!Store.TryRead(from, out Span<byte> original))
            return false;

        var page = new Page(original);
        if (page.Number != from || page.Birth != birth)
            return false;

        original[..PageLayout.SizeBytes].CopyTo(destination);
        return true;
    }

    private void Report(long? page, string what) => _report(new CheckProblem(_path, page, null, what));
}
