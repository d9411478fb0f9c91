using System.Buffers.Binary;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>The layout of a database directory: its folders, trees, version and id.</summary>
internal static class DatabaseFormat
{
    /// <summary>The folder of a database's documents.</summary>
    public const string DocumentsFolder = "documents";

    /// <summary>The folder of its indexes, with a folder for each.</summary>
    public const string IndexesFolder = "indexes";

    private static readonly EnumerationOptions _everything = new()
    {
        RecurseSubdirectories = true,
        IgnoreInaccessible = true,
        AttributesToSkip = 0
    };

    /// <summary>Rejects a directory that contains other files and no database, before anything is written to it.</summary>
    /// <exception cref="ForeignDataException">The directory contains other files, which the message names.</exception>
    public static void RefuseForeignDirectory(string directory, params ReadOnlySpan<string> folders)
    {
        if (File.Exists(directory))
            throw new ForeignDataException(
                $"'{directory}' is a file. Give the directory of a database, or one that does not exist yet.");
        if (!Directory.Exists(directory))
            return;

        try
        {
            foreach (string entry in Directory.EnumerateFileSystemEntries(directory))
            {
                if (!folders.Contains(Path.GetFileName(entry)) && !Directory.Exists(Path.Combine(directory, folders[0])))
                {
                    throw new ForeignDataException(
                        $"The directory '{directory}' is not a database and is not empty: it contains, for instance, "
                            + $"'{Path.GetFileName(entry)}'. Nothing was changed. Use a separate directory for the database.");
                }
            }
        }
        catch (UnauthorizedAccessException error)
        {
            throw new StorageException(
                $"The directory '{directory}' cannot be read: {error.Message} Give the process the right to, or choose another "
                    + $"directory.",
                error);
        }
    }

    /// <summary>Opens or creates the environment of a database's documents.</summary>
    /// <exception cref="ForeignDataException">The directory contains other data.</exception>
    /// <exception cref="EncryptionKeyException">The key is missing or wrong, or one was given for an unencrypted
    /// environment.</exception>
    /// <exception cref="StorageException">The environment cannot be opened; the message says why.</exception>
    public static StorageEnvironment OpenDocuments(string directory, EncryptionKey? key, long decryptedBudgetBytes)
    {
        RefuseForeignDirectory(directory, DocumentsFolder, IndexesFolder);
        long decrypted = key is null ? 0 : decryptedBudgetBytes;
        return StorageEnvironment.Open(
            Path.Combine(directory, DocumentsFolder), new StorageOptions
            {
                EncryptionKey = key,
                DecryptedBudgetBytes = decryptedBudgetBytes,
                MemoryBudgetBytes = Math.Max(StorageOptions.DefaultMemoryBudgetBytes, decrypted),
            });
    }

    /// <summary>Creates the trees of a new database, or checks the version of an existing one; returns its id.</summary>
    /// <exception cref="ForeignDataException">The environment is not that of a database, or of a newer version.</exception>
    public static Guid EnsureCreated(StorageEnvironment environment, string directory)
    {
        new SalvagedDocuments(environment).RunIfMarked();
        using (ReadTransaction read = environment.BeginRead())
            if (read.FindTree(TreeNames.Meta) is { } meta)
                return ReadId(meta, directory);

        return environment.Write(transaction =>
        {
            foreach (string name in TreeNames.All)
                transaction.GetOrCreateTree(name);
            WriteIdentity(transaction.GetOrCreateTree(TreeNames.Meta), environment.StoreId);
            return environment.StoreId;
        });
    }

    /// <summary>Writes the id of a database, and the version if there is none.</summary>
    public static void WriteIdentity(Tree meta, Guid id)
    {
        byte[] value = new byte[20];
        int version = meta.TryGet(TreeNames.MetaDatabase, out ReadOnlySpan<byte> before) && before.Length >= sizeof(int)
            ? BinaryPrimitives.ReadInt32LittleEndian(before)
            : TreeNames.FormatVersion;
        BinaryPrimitives.WriteInt32LittleEndian(value, version);
        id.TryWriteBytes(value.AsSpan(4));
        meta.Put(TreeNames.MetaDatabase, value);
    }

    /// <summary>Marks that bodies may be compressed, so that older versions do not misinterpret them.</summary>
    public static void AllowPacked(Tree meta)
    {
        if (!meta.TryGet(TreeNames.MetaDatabase, out ReadOnlySpan<byte> value))
            return;
        byte[] copy = value.ToArray();
        BinaryPrimitives.WriteInt32LittleEndian(copy, TreeNames.PackedFormatVersion);
        meta.Put(TreeNames.MetaDatabase, copy);
    }

    /// <summary>
    /// Returns whether the documents of a database are encrypted, according to their files; false if these cannot be read.
    /// </summary>
    public static bool IsEncrypted(string directory)
    {
        try
        {
            return EnvironmentKeys.IsEncryptedAt(Path.Combine(directory, DocumentsFolder));
        }
        catch (StorageException)
        {
            return false;
        }
    }

    /// <summary>Returns the total size of all files below a directory in bytes.</summary>
    public static long SizeOnDiskBytes(string directory)
    {
        long bytes = 0;
        foreach (FileInfo file in new DirectoryInfo(directory).EnumerateFiles("*", _everything))
        {
            try
            {
                bytes += file.Length;
            }
            catch (FileNotFoundException)
            {
                // deleted in the meantime, as journals are
            }
        }

        return bytes;
    }

    private static Guid ReadId(Tree meta, string directory)
    {
        if (!meta.TryGet(TreeNames.MetaDatabase, out ReadOnlySpan<byte> value) || value.Length < 20)
            throw new ForeignDataException(
                $"The directory '{directory}' holds a store, but not a database. Nothing was changed. Give the directory of a "
                    + $"database.");

        int version = BinaryPrimitives.ReadInt32LittleEndian(value);
        return version is TreeNames.FormatVersion or TreeNames.PackedFormatVersion
            ? new Guid(value.Slice(4, 16))
            : throw new ForeignDataException(
                $"The database in '{directory}' has format {version}, this program knows up to format "
                    + $"{TreeNames.PackedFormatVersion}. "
                    + $"Nothing was changed. Open it with the version that wrote it.");
    }
}
