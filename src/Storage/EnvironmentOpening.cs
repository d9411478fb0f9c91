using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Transactions;

namespace Treepie.Storage;

/// <summary>Opens an environment from a directory: the lock, the files, the meta page and the key.</summary>
internal static class EnvironmentOpening
{
    /// <summary>
    /// Opens an environment in the given world; see <see cref="StorageEnvironment.Open(string, StorageOptions?)"/>. On an
    /// error the directory is left as it was.
    /// </summary>
    public static StorageEnvironment Open(World world, StorageOptions options)
    {
        options.Validate();
        IFileSystem files = world.Files;
        files.Calls.RequireLittleEndian();
        if (!options.ReadOnly)
            files.CreateDirectory();

        bool bringsLock = !options.ReadOnly && !files.List().Contains(FormatLimits.LockFileName);
        if (bringsLock)
            DataFile.ThrowIfForeign(files);

        IDisposable fileLock = files.Lock(FormatLimits.LockFileName, options.ReadOnly);
        IFile? data = null;
        StoreCipher? cipher = null;
        StorageEnvironment? environment = null;
        try
        {
            IReadOnlyList<string> names = files.List();
            if (!names.Contains(FormatLimits.DataFileName))
            {
                if (options.ReadOnly)
                    throw new StorageException($"There is no store in '{files.Path}': '{FormatLimits.DataFileName}' is missing.");
                DataFile.ThrowIfMissing(files, names);
                DataFile.Create(world, options.EncryptionKey);
            }

            data = files.Open(FormatLimits.DataFileName, create: false, writable: !options.ReadOnly);
            MetaPage meta = DataFile.ReadMeta(files, data);
            // Every reader starts at this page: load it while the rest is opened.
            data.Announce(meta.Catalogue.Root.Number * PageLayout.SizeBytes, PageLayout.SizeBytes);
            cipher = StoreCipher.Open(world, meta, options.EncryptionKey);
            environment = new StorageEnvironment(world, options, fileLock, data, meta, cipher);
            files.NameHolder(fileLock, world.Clock.GetUtcNow());
            return environment;
        }
        catch
        {
            environment?.Dispose();
            data?.Dispose();
            cipher?.Dispose();
            if (environment is null && bringsLock && files.List().Contains(FormatLimits.LockFileName))
                files.Unmake(fileLock, FormatLimits.LockFileName); // while the lock is held: later it may be another's file
            fileLock.Dispose();
            throw;
        }
    }
}
