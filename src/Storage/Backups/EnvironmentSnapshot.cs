using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Storage.Format;
using Treepie.Storage.Snapshots;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Backups;

/// <summary>
/// A committed state of an environment, held to be backed up: its pages, including those of its named snapshots, can be written
/// in page order while writes continue. Costs the same as a read transaction: at most one version of each page is held until it
/// is disposed.
/// </summary>
public sealed class EnvironmentSnapshot : IDisposable
{
    private const int PagesPerRelease = 256;
    private const int StretchPages = (PartFormat.MaxContentBytes - PartFormat.StretchBytes) / PageLayout.SizeBytes;

    private readonly StorageEnvironment _environment;
    private readonly ReadTransaction _read;
    private readonly List<ReadTransaction> _named;
    private readonly PageBits _pages;
    private readonly List<PageRun> _reserved = [];
    private readonly long _pageCount;
    private readonly long _commitMs;
    private bool _isBegun;

    private EnvironmentSnapshot(
        StorageEnvironment environment, ReadTransaction read, List<ReadTransaction> named, PageBits pages, long pageCount,
        long commitMs, MetaPage durable)
    {
        _environment = environment;
        _read = read;
        _named = named;
        _pages = pages;
        _pageCount = pageCount;
        _commitMs = commitMs;
        _pages.Remove(durable.Bitmap);
        _pages.Remove(durable.OtherBitmap);
        LeaveOutOrphans();
    }

    /// <summary>The id of the store.</summary>
    public Guid StoreId => _environment.StoreId;

    /// <summary>The commit whose state it is.</summary>
    public long Commit => _read.TransactionId;

    /// <summary>
    /// When that commit was made; in an environment that has not been written to since it was opened, the current time.
    /// </summary>
    public DateTimeOffset CommittedAt => DateTimeOffset.FromUnixTimeMilliseconds(_commitMs);

    /// <summary>The number of pages of the state.</summary>
    public long PageCount => _pages.Count;

    /// <summary>A read transaction on the same state, which ends with it.</summary>
    public ReadTransaction Read => _read;

    /// <summary>Holds the last committed state.</summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public static EnvironmentSnapshot Begin(StorageEnvironment environment)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ReadTransaction? read = null;
        var named = new List<ReadTransaction>();
        ulong[] live = [];
        long pageCount = 0, commitMs = 0;
        MetaPage? durable = null;
        EnvironmentState state = environment.State;
        try
        {
            environment.Commits.RunExclusive(() =>
            {
                read = environment.BeginRead("backup");
                // Keep the named snapshots open so that dropping one meanwhile does not affect the backup.
                named.AddRange(read.Snapshot.Named.All.Select(snapshot => environment.OpenSnapshot(snapshot.Name)));
                pageCount = state.Space.PageCount;
                commitMs = environment.Journal?.LastTimeMs ?? 0;
                durable = state.Durable;
                live = state.Space.CopyLive();
            });
            Array.Resize(ref live, (int)((pageCount + 63) / 64)); // the bitmap also covers pages beyond the end
            if (commitMs == 0)
                commitMs = state.Clock.GetUtcNow().ToUnixTimeMilliseconds();
            // Not null: RunExclusive has run the action.
            return new EnvironmentSnapshot(environment, read!, named, PageBits.Of(live), pageCount, commitMs, durable!);
        }
        catch
        {
            named.ForEach(open => open.Dispose());
            read?.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Writes the state, or the changes since a commit, to a part. Copies pages and verifies their checksums, using memory for
    /// one frame and one bit per page. Pages of an encrypted environment are decrypted, so the part must be written to an
    /// encrypted stream.
    /// </summary>
    /// <param name="writer">The writer of the part.</param>
    /// <param name="name">The name of the store in the part, at most 1,000 characters.</param>
    /// <param name="since">The commit whose state is in another part; -1: none, all pages are written.</param>
    /// <param name="progress">Receives the progress after each frame; or null.</param>
    /// <param name="cancellationToken">Cancels the operation between two frames; the part then has no end.</param>
    /// <returns>The number of pages written.</returns>
    /// <exception cref="CorruptionException">A page is damaged; the message names it.</exception>
    public async Task<long> WriteAsync(
        BackupPartWriter writer, string name, long since = -1, IProgress<BackupPartProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(writer);
        ArgumentNullException.ThrowIfNull(name);
        if (since > Commit)
            throw new BackupPartException(
                BackupPartFault.Foreign,
                $"A backup up to commit {since} cannot be continued: '{_environment.State.Store.Path}' is at commit {Commit}. "
                    + $"It was restored to an earlier state; begin with a snapshot.");

        PageBits pages = since < 0 ? _pages : FindBornAfter(since, cancellationToken);
        Snapshot state = _read.Snapshot;
        var record = new StoreRecord
        {
            StoreId = StoreId,
            Commit = Commit,
            Since = since,
            CommitMs = _commitMs,
            PageCount = _pageCount,
            LivePages = _pages.Count,
            PagesHere = pages.Count,
            Catalogue = state.Catalogue,
            System = state.System,
            NextTreeId = state.NextTreeId,
            NamedSnapshots = state.Named.All.Count,
            Name = name,
        };
        await writer.WriteAsync(PartFrameKind.Store, record.Write(writer.Content), cancellationToken).ConfigureAwait(false);
        _isBegun = true;
        await WriteLiveAsync(writer, cancellationToken).ConfigureAwait(false);
        await WriteReservedAsync(writer, cancellationToken).ConfigureAwait(false);
        await WritePagesAsync(
            writer, pages, done => progress?.Report(new BackupPartProgress(name, done, pages.Count)),
            cancellationToken).ConfigureAwait(false);

        // Commits that are not durable could be lost and their numbers reused; the next increment would mistake the new ones
        // for these.
        if (_environment is { Journal: null, IsReadOnly: false })
            _environment.Checkpoint(cancellationToken);
        BinaryPrimitives.WriteInt64LittleEndian(writer.Content, pages.Count);
        await writer.WriteAsync(PartFrameKind.StoreEnd, sizeof(long), cancellationToken).ConfigureAwait(false);
        return pages.Count;
    }

    /// <summary>
    /// Records in a part that <see cref="WriteAsync"/> failed on a damaged page and that this store is to be ignored, so that the
    /// part remains valid for its other stores. Not allowed for the first store.
    /// </summary>
    public async Task GiveUpAsync(BackupPartWriter writer, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(writer);
        if (_isBegun)
            await writer.WriteAsync(PartFrameKind.StoreLost, 0, cancellationToken).ConfigureAwait(false);
        _isBegun = false;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _named.ForEach(open => open.Dispose());
        _read.Dispose();
    }

    /// <summary>
    /// Excludes pages that were kept for snapshots dropped since. They count as in use until they are processed, but nothing
    /// reads them, so they may be reused during the backup.
    /// </summary>
    private void LeaveOutOrphans()
    {
        NamedSnapshots named = _read.Snapshot.Named;
        if (named.Dropped.Count == 0)
            return;

        foreach (PinnedRun run in PinnedPagesTree.ReadAll(_environment.State.Store, _read.Snapshot.System))
        {
            if (named.NewestUpTo(run.Freed - 1) >= run.Birth)
                continue;

            _reserved.Add(run.Run);
            _pages.Remove(run.Run);
        }
    }

    /// <summary>
    /// Collects the pages born after a commit. A page is born no later than its parent, so subtrees of older pages are
    /// skipped.
    /// </summary>
    private PageBits FindBornAfter(long since, CancellationToken cancellationToken)
    {
        var born = new PageBits(_pageCount);
        int untilRelease = PagesPerRelease;
        var walk = new RootWalk(_environment.State.Store, Visit, cancellationToken, since);
        Snapshot state = _read.Snapshot;
        walk.Catalogue(state.Catalogue);
        walk.Tree(state.System);
        foreach (NamedSnapshot snapshot in state.Named.All)
            walk.Catalogue(snapshot.Record.Catalogue);
        _read.ReleasePages();
        return born;

        bool Visit(PageRun run)
        {
            Debug.Assert(_pages.Contains(run.First), "What a root leads to is in use.");
            if (--untilRelease == 0)
            {
                untilRelease = PagesPerRelease;
                _read.ReleasePages();
            }

            if (born.Contains(run.First))
                return false; // shared with a root already walked

            born.Add(run);
            return true;
        }
    }

    private async Task WriteLiveAsync(BackupPartWriter writer, CancellationToken cancellationToken)
    {
        const int WordsPerFrame = (PartFormat.MaxContentBytes - sizeof(long)) / sizeof(ulong);
        for (int first = 0; first < _pages.Words.Length; first += WordsPerFrame)
        {
            int bytes = Fill(first);
            await writer.WriteAsync(PartFrameKind.Live, sizeof(long) + bytes, cancellationToken).ConfigureAwait(false);
        }

        int Fill(int first)
        {
            ReadOnlySpan<byte> bits = MemoryMarshal.AsBytes(
                _pages.Words.Slice(first, Math.Min(WordsPerFrame, _pages.Words.Length - first)));
            BinaryPrimitives.WriteInt64LittleEndian(writer.Content, first * 64L);
            bits.CopyTo(writer.Content[sizeof(long)..]);
            return bits.Length;
        }
    }

    private async Task WriteReservedAsync(BackupPartWriter writer, CancellationToken cancellationToken)
    {
        const int RunBytes = sizeof(long) + sizeof(int), RunsPerFrame = PartFormat.MaxContentBytes / RunBytes;
        for (int first = 0; first < _reserved.Count; first += RunsPerFrame)
        {
            int count = Math.Min(RunsPerFrame, _reserved.Count - first);
            for (int i = 0; i < count; i++)
            {
                BinaryPrimitives.WriteInt64LittleEndian(writer.Content[(i * RunBytes)..], _reserved[first + i].First);
                BinaryPrimitives.WriteInt32LittleEndian(
                    writer.Content[((i * RunBytes) + sizeof(long))..], _reserved[first + i].Pages);
            }

            await writer.WriteAsync(PartFrameKind.Reserved, count * RunBytes, cancellationToken).ConfigureAwait(false);
        }
    }

    private async Task WritePagesAsync(
        BackupPartWriter writer, PageBits pages, Action<long> report, CancellationToken cancellationToken)
    {
        using var source = new PlainPages(_environment.State.Store, _environment.Cipher);
        var frame = new StretchWriter(writer);
        long done = 0;
        for (long number = pages.Next(0); number >= 0; number = pages.Next(number))
        {
            int run = source.Find(number);
            for (int page = 0; page < run;)
            {
                int count = Math.Min(run - page, frame.RoomPages);
                if (count == 0)
                {
                    await frame.FlushAsync(cancellationToken).ConfigureAwait(false);
                    report(done + page);
                    continue;
                }

                source.Copy(page, frame.Take(number + page, Math.Min(count, StretchPages)));
                page += Math.Min(count, StretchPages);
            }

            done += run;
            number += run;
        }

        await frame.FlushAsync(cancellationToken).ConfigureAwait(false);
        report(done);
    }
}
