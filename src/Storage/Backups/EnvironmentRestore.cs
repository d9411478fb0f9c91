using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;

namespace Treepie.Storage.Backups;

/// <summary>
/// An environment being created from the pages of a backup, in a directory that is not in use yet; encrypted or not, whatever the
/// source was. It has an id of its own, so that later commits are never mistaken for commits of the source. Until
/// <see cref="Complete"/> is called there is no environment; an interrupted restore can be started again in the same place. Not
/// thread-safe.
/// </summary>
/// <remarks>
/// Pages are written in place, once for the snapshot and once for each commit of the log that contains them: nothing has to
/// survive a crash before everything is done.
/// </remarks>
public sealed class EnvironmentRestore : IDisposable
{
    /// <summary>The maximum number of pages (64 MiB) by which the file is extended beyond what is needed.</summary>
    private const long StepPages = 8192;

    private readonly World _world;
    private readonly IDisposable _lock;
    private readonly IFile _file;
    private readonly StoreCipher? _cipher;
    private readonly PageCipher? _pages;
    private readonly EncryptionKey? _key;
    private readonly long _limitPages;
    private readonly Guid _storeId;
    private byte[] _sealed = [];
    private long _filePages;
    private bool _isComplete;
    private bool _isDisposed;

    private EnvironmentRestore(World world, IDisposable fileLock, EncryptionKey? key, long maxDataFileBytes)
    {
        _world = world;
        _lock = fileLock;
        _key = key;
        _limitPages = maxDataFileBytes / PageLayout.SizeBytes;
        if (world.Files.List().Contains(FormatLimits.NewDataFileName))
            world.Files.Delete(FormatLimits.NewDataFileName); // left by a restore that was killed
        _storeId = world.DrawGuid();
        _cipher = key is null ? null : StoreCipher.Create(world, _storeId, key);
        _pages = _cipher?.NewPageCipher();
        try
        {
            _file = world.Files.Open(FormatLimits.NewDataFileName, create: true, writable: true);
        }
        catch
        {
            _pages?.Dispose();
            _cipher?.Dispose();
            throw;
        }
    }

    /// <summary>Starts a restore to a directory, which is created if it does not exist.</summary>
    /// <param name="directory">The directory; empty, or with the remains of an interrupted restore.</param>
    /// <param name="key">The key of the new environment; null: it is not encrypted. Must not be disposed before this
    /// object.</param>
    /// <param name="maxDataFileBytes">The maximum size of the data file in bytes.</param>
    /// <exception cref="EnvironmentLockedException">The directory is in use.</exception>
    /// <exception cref="StorageException">The directory contains other files, or cannot be written to.</exception>
    public static EnvironmentRestore Create(string directory, EncryptionKey? key = null, long maxDataFileBytes = 256L << 30)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        return Create(World.OfDisk(directory), key, maxDataFileBytes);
    }

    /// <summary>
    /// Derives a key for data that will be stored beside the environment: the same as <see cref="EnvironmentKeys.DeriveKey"/> of
    /// the new environment will return.
    /// </summary>
    /// <exception cref="InvalidOperationException">The environment is not encrypted.</exception>
    public EncryptionKey DeriveKey(string purpose)
    {
        ArgumentException.ThrowIfNullOrEmpty(purpose);
        return _cipher?.DeriveKey(purpose)
            ?? throw new InvalidOperationException("The store that is being restored is not encrypted: it has no keys.");
    }

    /// <summary>Closes the file and deletes it, unless the restore is complete.</summary>
    public void Dispose()
    {
        if (_isDisposed)
            return;

        _isDisposed = true;
        _pages?.Dispose();
        _cipher?.Dispose();
        _file.Dispose();
        CryptographicOperations.ZeroMemory(_sealed);
        try
        {
            if (!_isComplete)
                _world.Files.Delete(FormatLimits.NewDataFileName);
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            // It does not count as a store, and the next restore deletes it.
        }

        _lock.Dispose();
    }

    /// <summary>Starts a restore in the given world.</summary>
    internal static EnvironmentRestore Create(World world, EncryptionKey? key, long maxDataFileBytes)
    {
        world.Files.Calls.RequireLittleEndian();
        world.Files.CreateDirectory();
        foreach (string name in world.Files.List())
            if (name is not (FormatLimits.NewDataFileName or FormatLimits.LockFileName))
                throw new StorageException(
                    $"'{world.Files.Path}' is not empty ('{name}' is there): a backup is restored to a directory of its own. "
                        + $"Nothing was changed.");

        IDisposable fileLock = world.Files.Lock(FormatLimits.LockFileName, shared: false);
        try
        {
            return new EnvironmentRestore(world, fileLock, key, maxDataFileBytes);
        }
        catch
        {
            fileLock.Dispose();
            throw;
        }
    }

    /// <summary>Extends the file, with allocated blocks, to a number of pages.</summary>
    internal void Grow(long pages)
    {
        if (pages > _limitPages)
            throw new StorageException(
                $"The backup needs {pages * PageLayout.SizeBytes:N0} bytes in '{_world.Files.Path}', and "
                    + $"{_limitPages * PageLayout.SizeBytes:N0} is the most that is allowed (MaxDataFileBytes). Nothing was "
                    + $"kept.");
        if (pages <= _filePages)
            return;

        _filePages = _filePages == 0 ? pages : Math.Max(pages, Math.Min(_filePages + StepPages, _limitPages));
        _file.Allocate(_filePages * PageLayout.SizeBytes);
    }

    /// <summary>Writes a page or a whole run, given in its unencrypted form.</summary>
    internal void Write(long number, ReadOnlySpan<byte> unit)
    {
        if (_pages is null)
        {
            _file.Write(unit, number * PageLayout.SizeBytes);
            return;
        }

        if (_sealed.Length < unit.Length)
            _sealed = GC.AllocateUninitializedArray<byte>(unit.Length);
        Span<byte> sealedUnit = _sealed.AsSpan(0, unit.Length);
        _pages.Seal(unit, sealedUnit);
        var page = new Page(sealedUnit);
        page.Checksum = Page.ComputeChecksum(sealedUnit);
        _file.Write(sealedUnit, number * PageLayout.SizeBytes);
    }

    /// <summary>Reads a page written before and decrypts it. Returns false if a different page is there.</summary>
    internal bool TryRead(long number, Span<byte> page)
    {
        if (number < FormatLimits.FirstDataPage || number >= _filePages)
            return false;
        if (_pages is null)
            return _file.Read(page, number * PageLayout.SizeBytes) == page.Length && new Page(page).Number == number;

        Span<byte> stored = stackalloc byte[PageLayout.SizeBytes];
        return _file.Read(stored, number * PageLayout.SizeBytes) == stored.Length
            && new Page(stored).Number == number
            && _pages.TryOpen(stored, page);
    }

    /// <summary>Writes the bitmap and the meta page durably and renames the file, which makes it a store.</summary>
    internal void Complete(in RestoredState state, PageBits inUse)
    {
        long pageCount = state.PageCount, groups = 1;
        while ((pageCount + (2 * groups) + FormatLimits.PagesPerBitmap - 1) / FormatLimits.PagesPerBitmap > groups)
            groups++;
        var bitmap = new PageRun(pageCount, (int)groups);
        var other = new PageRun(pageCount + groups, (int)groups);
        pageCount += 2 * groups;
        Grow(pageCount);
        inUse.Add(bitmap);
        inUse.Add(other);
        WriteBitmap(bitmap, state.Commit, inUse);
        _file.Sync();

        var meta = new MetaPage
        {
            StoreId = _storeId,
            Checkpoint = 0,
            LastTransaction = state.Commit,
            PageCount = pageCount,
            LivePages = inUse.Count,
            Catalogue = state.Catalogue,
            System = state.System,
            NextTreeId = state.NextTreeId,
            IsClean = true,
            Journal = new JournalPosition(0, 0, 1, 0),
            Bitmap = bitmap,
            OtherBitmap = other,
        };
        var page = new byte[PageLayout.SizeBytes];
        (_cipher?.Seal(meta) ?? meta).Write(page);
        _file.Write(page, 0);
        _file.Sync();
        _world.Files.Rename(FormatLimits.NewDataFileName, FormatLimits.DataFileName);
        _world.Files.SyncDirectory();
        _isComplete = true;
    }

    /// <summary>
    /// Checks every page, checksum, key, count and bitmap bit of the store. Call it after <see cref="Complete"/> and
    /// <see cref="Dispose"/>.
    /// </summary>
    /// <exception cref="CorruptionException">The check failed; the message states the first fault.</exception>
    internal void Check(IProgress<BackupPartProgress>? progress, CancellationToken cancellationToken)
    {
        using StorageEnvironment environment = StorageEnvironment.Open(
            _world,
            new StorageOptions
            {
                ReadOnly = true,
                EncryptionKey = _key,
                MaxDataFileBytes = Math.Max(_limitPages * PageLayout.SizeBytes, 1 << 20)
            });
        IProgress<CheckProgress>? inner = progress is null ? null : new ToPartProgress(progress);
        CheckReport report = environment.Check(inner, cancellationToken);
        if (!report.IsClean)
            throw new CorruptionException(
                $"What was restored to '{_world.Files.Path}' has {report.ProblemCount:N0} faults, the first: "
                    + $"{report.Problems[0].What} Nothing was kept. Check the disk, and report this.");
    }

    private void WriteBitmap(PageRun run, long commit, PageBits inUse)
    {
        var bytes = new byte[PageLayout.SizeBytes];
        for (int group = 0; group < run.Pages; group++)
        {
            bytes.AsSpan().Clear();
            int first = group * PageGroup.Words;
            if (first < inUse.Words.Length)
                MemoryMarshal.AsBytes(inUse.Words.Slice(first, Math.Min(PageGroup.Words, inUse.Words.Length - first)))
                    .CopyTo(bytes.AsSpan(PageLayout.HeaderBytes));
            var page = new Page(bytes)
            {
                Number = run.First + group,
                Birth = commit,
                Type = PageType.Bitmap,
            };
            if (_cipher is not null)
                page.Tag = _cipher.TagOfBitmap(bytes);
            page.Checksum = Page.ComputeChecksum(bytes);
            _file.Write(bytes, page.Number * PageLayout.SizeBytes);
        }
    }

    private sealed class ToPartProgress(IProgress<BackupPartProgress> progress) : IProgress<CheckProgress>
    {
        public void Report(CheckProgress value) =>
            progress.Report(new BackupPartProgress("check", value.PagesDone, value.PagesTotal));
    }
}
