using Treepie.Indexes.Definitions;
using Treepie.Indexing;
using Treepie.Storage;

namespace Treepie.Indexes;

/// <summary>
/// One index: its store, and who holds it. Queries hold a lease while they read; the files go when the last holder is gone. Thread-safe.
/// </summary>
/// <remarks>
/// Invariants: (1) nobody gets a lease after <see cref="Close"/>; (2) the store is open while anybody holds it; (3) files are deleted
/// only after their definition, and only when the store is closed.
/// </remarks>
internal sealed class DocumentIndex
{
    private readonly Lock _lock = new();
    private readonly IndexDirectory _directory;
    private readonly TaskCompletionSource _released = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _holders = 1; // the catalogue
    private bool _closed;
    private bool _deleteFiles;

    private DocumentIndex(AutoIndexDefinition definition, IndexDirectory directory, StorageEnvironment store, IndexWriter writer)
    {
        Definition = definition;
        _directory = directory;
        Store = store;
        Writer = writer;
    }

    public AutoIndexDefinition Definition { get; }

    public string Name => Definition.Name;

    /// <summary>Name of its folder.</summary>
    public string Folder => _directory.Name;

    /// <summary>The collection its documents are in; null: all.</summary>
    public string? Collection => Definition.CoversAllDocuments ? null : Definition.Collection;

    public StorageEnvironment Store { get; }

    public IndexWriter Writer { get; }

    /// <summary>How far it is and what went wrong.</summary>
    public IndexProgress Progress { get; } = new();

    /// <summary>Completes when nobody holds it any more and its store is closed.</summary>
    public Task Released => _released.Task;

    /// <summary>Makes a new index.</summary>
    public static DocumentIndex Create(AutoIndexDefinition definition, IndexDirectory directory)
    {
        DocumentIndex index = OpenStore(definition, directory);
        directory.Publish(definition);
        return index;
    }

    /// <summary>Opens an index. One whose store is damaged, or not of these documents, is emptied, to be built again.</summary>
    public static DocumentIndex Open(AutoIndexDefinition definition, IndexDirectory directory)
    {
        try
        {
            return OpenStore(definition, directory);
        }
        catch (Exception error) when (error is CorruptionException or ForeignDataException or IndexSchemaException or EncryptionKeyException)
        {
            directory.DeleteStore();
            return OpenStore(definition, directory);
        }
    }

    /// <summary>Encrypts the store anew. Whoever calls holds it.</summary>
    public KeyRotationReport RotateDataKey(IProgress<KeyRotationProgress>? progress, CancellationToken cancellationToken)
    {
        using EncryptionKey key = _directory.Key() ?? throw new InvalidOperationException($"The index '{Name}' is not encrypted.");
        return Store.RotateDataKey(key, progress, cancellationToken);
    }

    /// <summary>Begins to hold it; false when it is closed.</summary>
    public bool TryHold()
    {
        lock (_lock)
        {
            if (_closed)
                return false;

            _holders++;
            return true;
        }
    }

    /// <summary>Ends one hold.</summary>
    public void Release()
    {
        lock (_lock)
            if (--_holders > 0)
                return;

        Store.Dispose();
        if (_deleteFiles)
            _directory.Delete();
        _released.TrySetResult();
    }

    /// <summary>Lets nobody in any more and gives up the catalogue's hold.</summary>
    public void Close(bool deleteFiles)
    {
        lock (_lock)
        {
            if (_closed)
                return;

            _closed = true;
            _deleteFiles = deleteFiles;
        }

        if (deleteFiles)
            _directory.Retract();
        Progress.Close();
        Release();
    }

    private static DocumentIndex OpenStore(AutoIndexDefinition definition, IndexDirectory directory)
    {
        using EncryptionKey? key = directory.Key();
        StorageEnvironment store = StorageEnvironment.Open(directory.StorePath, new StorageOptions { Durability = Durability.Relaxed, EncryptionKey = key });
        try
        {
            return new DocumentIndex(definition, directory, store, new IndexWriter(store, definition.Schema));
        }
        catch
        {
            store.Dispose();
            throw;
        }
    }
}
