using Treepie.Encryption;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Directories;
using Treepie.Indexes.Grouping;
using Treepie.Indexing;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// The indexes of a database. Each index has a store of its own, filled in the background from the document log, and is a
/// function of the documents up to its etag: if it is lost, it can be rebuilt without loss of data. A query chooses one of the
/// indexes; if none is suitable, an auto-index is created or extended. A changed static index is built side by side and replaces
/// the old one when it has caught up. Thread-safe.
/// </summary>
/// <remarks>
/// Invariants: (1) for each name there is at most one index that answers queries and at most one replacement for it, both static;
/// (2) the latest definition of a static index is durable before anything is built for it; (3) a replacement has caught up with
/// the log before it takes over and the old index is removed.
/// </remarks>
public sealed class IndexCatalogue : IDisposable
{
    /// <summary>The prefix of the name of an index that is being built to replace the index with the rest of the name.</summary>
    public const string ReplacementPrefix = "ReplacementOf/";

    private readonly Lock _lock = new();
    private readonly Lock _definitionsLock = new();
    private readonly string _directory;
    private readonly IndexingContext _context;
    private readonly StaticDefinitions? _statics;
    private readonly SealedDefinitions? _sealed;
    private readonly CancellationTokenSource _stop = new();
    private readonly Dictionary<string, DocumentIndexer> _indexers = new(StringComparer.OrdinalIgnoreCase);
    private readonly Dictionary<string, DocumentIndexer> _replacements = new(StringComparer.OrdinalIgnoreCase);
    private readonly Dictionary<string, BrokenIndex> _broken = new(StringComparer.OrdinalIgnoreCase);
    private readonly List<Task> _stopping = [];
    private long _generation;
    private long _version;
    private bool _closed;

    private IndexCatalogue(
        string directory, IndexingContext context, StaticDefinitions? statics, SealedDefinitions? sealedDefinitions,
        IndexSettingsStore? settings)
    {
        _directory = directory;
        _context = context;
        _statics = statics;
        _sealed = sealedDefinitions;
        Control = new IndexControl(settings, NameOf);
        Analyzers = new IndexAnalyzers(context, _definitionsLock, Definitions, BuildAll);
    }

    /// <summary>Lock modes, priorities, and which indexes are disabled or paused.</summary>
    public IndexControl Control { get; }

    /// <summary>Custom analyzers stored in the database, which fields refer to by name.</summary>
    public IndexAnalyzers Analyzers { get; }

    /// <summary>Increases whenever another index may be the one to answer a query.</summary>
    internal long Version => Volatile.Read(ref _version);

    private void NoteChoiceChanged() => Volatile.Write(ref _version, _version + 1); // under the lock

    /// <summary>Opens the indexes below a directory and resumes indexing.</summary>
    internal static IndexCatalogue Open(
        string directory, IndexingContext context, StaticDefinitions? statics = null, SealedDefinitions? sealedDefinitions = null,
        IndexSettingsStore? settings = null)
    {
        PrivateFiles.CreateDirectory(directory);
        var catalogue = new IndexCatalogue(directory, context, statics, sealedDefinitions, settings);
        try
        {
            catalogue.OpenAll();
        }
        catch
        {
            ((IDisposable)catalogue).Dispose();
            throw;
        }

        return catalogue;
    }

    /// <summary>Returns the statistics of all indexes, by name.</summary>
    public IReadOnlyList<IndexStatistics> List()
    {
        using DatabaseSnapshot snapshot = _context.BeginRead();
        DateTimeOffset now = _context.TimeProvider.GetUtcNow();
        (string Name, DocumentIndex Index)[] indexes;
        BrokenIndex[] broken;
        lock (_lock)
        {
            indexes = [
                .. _indexers.Values.Select(i => (i.Index.Name, i.Index)),
                .. _replacements.Values.Select(i => (ReplacementPrefix + i.Index.Name, i.Index))
            ];
            broken = [.. _broken.Values];
        }

        return IndexDescription.Of(indexes, broken, Control, snapshot, now);
    }

    /// <summary>Returns the latest indexing errors of an index, oldest first.</summary>
    /// <exception cref="IndexNotFoundException">The index does not exist.</exception>
    public IReadOnlyList<IndexError> Errors(string name)
    {
        lock (_lock)
            if (_broken.TryGetValue(name, out BrokenIndex? broken))
                return [broken.Error];
        return IndexDescription.ErrorsOf(FindOrReplacement(name));
    }

    /// <summary>
    /// Deletes the document errors of an index. The documents remain without an entry until they change or the index is
    /// rebuilt.
    /// </summary>
    /// <exception cref="IndexNotFoundException">The index does not exist.</exception>
    public void ClearErrors(string name) => FindOrReplacement(name).ClearErrors();

    /// <summary>
    /// Stores the definition of a static index; it is durable when the method returns, and the index is built in the background.
    /// An index of the same name keeps answering until the new one has caught up and replaces it. An unchanged definition has no
    /// effect.
    /// </summary>
    /// <exception cref="InvalidIndexDefinitionException">The definition is not valid; nothing was changed.</exception>
    public void Put(IndexDefinition definition) =>
        PutAll([definition ?? throw new ArgumentNullException(nameof(definition))]);

    /// <summary>As <see cref="Put"/>, for several definitions: if one is refused, none is stored.</summary>
    public void PutAll(IReadOnlyList<IndexDefinition> definitions)
    {
        ArgumentNullException.ThrowIfNull(definitions);
        Store([.. definitions.Select(definition => ComputedDefinition.Require(definition, _context))]);
    }

    /// <summary>Validates a definition without storing it.</summary>
    /// <exception cref="InvalidIndexDefinitionException">The definition is not valid.</exception>
    public void Check(IndexDefinition definition) => Complete(definition);

    /// <summary>
    /// Returns a definition in the form in which it would be stored, completed with the collections and fields that its maps
    /// determine.
    /// </summary>
    /// <exception cref="InvalidIndexDefinitionException">The definition is not valid.</exception>
    public IndexDefinition Complete(IndexDefinition definition)
    {
        ArgumentNullException.ThrowIfNull(definition);
        return ComputedDefinition.Require(definition, _context).Definition;
    }

    /// <summary>Returns the definition of a static index; null if it does not exist.</summary>
    public IndexDefinition? Definition(string name) => _statics?.Find(name);

    /// <summary>Returns the latest definitions of a static index, at most 10, newest first.</summary>
    public IReadOnlyList<DefinitionVersion> History(string name) => _statics?.History(name) ?? [];

    /// <summary>Gives an index that was just created from a dump the history it has there.</summary>
    internal void RestoreHistory(string name, IReadOnlyList<DefinitionVersion> versions) =>
        _statics?.RestoreHistory(name, versions);

    /// <summary>
    /// Waits until all indexes, or the named ones, have processed everything committed before the call; returns false on timeout.
    /// </summary>
    /// <exception cref="IndexNotFoundException">A named index does not exist.</exception>
    public async Task<bool> WaitForNonStaleAsync(
        TimeSpan timeout, IReadOnlyList<string>? indexNames = null, CancellationToken cancellationToken = default)
    {
        IReadOnlyList<DocumentIndex> indexes = indexNames is null ? Indexes() : [.. indexNames.Select(FindOrReplacement)];
        return await IndexRounds.WaitForAsync(
            indexes, _context.Changes.LastEtag, timeout, _context.TimeProvider, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Deletes an index with its files and its definition; returns false if it does not exist. For a name with the prefix
    /// <c>ReplacementOf/</c>, cancels the replacement and keeps the old definition.
    /// </summary>
    public bool Delete(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        lock (_definitionsLock)
        {
            if (name.StartsWith(ReplacementPrefix, StringComparison.OrdinalIgnoreCase))
                return GiveUpReplacement(name[ReplacementPrefix.Length..]);

            bool wasDefined = _statics is not null && Definition(name) is not null && _statics.Delete(name);
            Control.Forget(name);
            lock (_lock)
                return Remove(name) | Remove(_replacements, name) | _broken.Remove(name) | wasDefined;
        }
    }

    /// <summary>Clears an index and rebuilds it.</summary>
    /// <exception cref="IndexNotFoundException">The index does not exist.</exception>
    public void Reset(string name) => Reset(Find(name) ?? throw new IndexNotFoundException(name));

    /// <summary>
    /// Gives every index a new data key, one after another. Skips an index that is deleted meanwhile; one that is created has a
    /// new key anyway.
    /// </summary>
    internal void RotateDataKeys(KeyRotationSteps steps, CancellationToken cancellationToken) =>
        IndexRounds.RotateDataKeys(Indexes(), steps, cancellationToken);

    /// <summary>Returns the indexes with the specified names, or all.</summary>
    /// <exception cref="IndexNotFoundException">A named index does not exist.</exception>
    internal IReadOnlyList<DocumentIndex> ToCompact(IReadOnlyList<string>? names) => names is null
        ? Indexes()
        : [
            .. names.Distinct(StringComparer.OrdinalIgnoreCase)
                .Select(name => Find(name) ?? throw new IndexNotFoundException(name))];

    /// <summary>Returns the memory in bytes of decrypted pages of all indexes.</summary>
    internal long DecryptedBytes() => IndexRounds.DecryptedBytes(Indexes());

    /// <summary>Returns the index that answers queries under a name; null if there is none.</summary>
    /// <exception cref="TreepieException">The index cannot be opened.</exception>
    internal DocumentIndex? Find(string name)
    {
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_closed, this);
            if (_broken.TryGetValue(name, out BrokenIndex? broken))
                throw new TreepieException(broken.Error.Message);
            DocumentIndex? index = _indexers.GetValueOrDefault(name)?.Index;
            index?.NoteUse(_context.TimeProvider.GetUtcNow());
            return index;
        }
    }

    /// <summary>Clears an index and rebuilds it, unless that has already happened meanwhile.</summary>
    internal void Reset(DocumentIndex index)
    {
        lock (_lock)
        {
            if (Find(index.Name) != index)
                return;

            Remove(index.Name);
            Add(_indexers, Make(index.Definition.Anew));
        }
    }

    /// <summary>
    /// Returns the index that answers queries over the specified fields: one that has them, an extended one, or a new one; see
    /// <see cref="AutoIndexChoice"/>.
    /// </summary>
    /// <param name="collection">The collection, or <see cref="AutoIndexDefinition.AllDocuments"/>.</param>
    /// <param name="fields">The fields, in the order of the query.</param>
    /// <param name="created">Whether the index was created by this call, whose caller waits for it.</param>
    internal DocumentIndex FindOrCreate(string collection, IReadOnlyList<AutoIndexField> fields, out bool created)
    {
        lock (_lock)
        {
            DateTimeOffset now = _context.TimeProvider.GetUtcNow();
            DocumentIndex index = Take(
                AutoIndexChoice.Decide(_indexers.Values, collection, fields, _context.Options, now), out created);
            AutoIndexChoice.NoteUse(index, fields, now);
            return index;
        }
    }

    /// <summary>Records that a query uses fields of an index that was chosen before. Takes no lock.</summary>
    internal void NoteUse(DocumentIndex index, ReadOnlySpan<int> fields) =>
        index.NoteUse(fields, _context.TimeProvider.GetUtcNow());

    /// <summary>Returns the map-reduce index of groups, or creates one; see <see cref="GroupIndexChoice"/>.</summary>
    internal DocumentIndex FindOrCreate(GroupDefinition wanted, out bool created)
    {
        lock (_lock)
        {
            DateTimeOffset now = _context.TimeProvider.GetUtcNow();
            DocumentIndex index = Take(GroupIndexChoice.Decide(_indexers.Values, wanted, _context.Options, now), out created);
            index.NoteUse(now);
            return index;
        }
    }

    /// <summary>Returns all indexes, held; the caller must release each.</summary>
    internal IReadOnlyList<HeldIndex> Hold() =>
        [.. Indexes()
            .Where(index => index.TryHold())
            .Select(index => new HeldIndex(index, index.Folder, DefinitionJson.Write(index.Definition)))];

    /// <summary>Returns the current definitions of all indexes, by name.</summary>
    internal IReadOnlyList<IndexMapping> Definitions()
    {
        lock (_lock)
        {
            IEnumerable<IndexMapping> answering = _indexers.Values.Select(i => i.Index.Definition)
                .Where(d => !_replacements.ContainsKey(d.Name));
            return [
                .. answering.Concat(_replacements.Values.Select(i => i.Index.Definition))
                    .Concat(_broken.Values.Select(b => b.Definition).Where(d => !d.IsMadeByQueries))
                    .OrderBy(d => d.Name, StringComparer.Ordinal)];
        }
    }

    /// <summary>Creates an index of exactly this definition; an auto-index only if none has its name.</summary>
    internal void Ensure(IndexMapping definition)
    {
        if (definition is StaticIndexMapping mapping)
        {
            Store([ComputedDefinition.CompileOrKeep(mapping, _context.Computing)]);
            return;
        }

        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_closed, this);
            if (!_indexers.ContainsKey(definition.Name))
                AddOrSetAside(_indexers, definition, () => Make(definition));
        }
    }

    /// <summary>Stops indexing and closes the stores when no query uses them. Called only by the database.</summary>
    void IDisposable.Dispose()
    {
        List<Task> tasks;
        lock (_lock)
        {
            if (_closed)
                return;
            _closed = true;
            _stop.Cancel();
            foreach (DocumentIndexer indexer in _indexers.Values.Concat(_replacements.Values))
                _stopping.Add(indexer.StopAsync(deleteFiles: false));
            _indexers.Clear();
            _replacements.Clear();
            NoteChoiceChanged();
            tasks = [.. _stopping];
        }

        Task.WhenAll(tasks).GetAwaiter().GetResult();
        _context.Workers.Dispose();
        _stop.Dispose();
    }

    private void OpenAll()
    {
        var built = new List<(IndexDirectory Place, StaticIndexMapping Definition)>();
        foreach ((IndexDirectory place, IndexMapping definition) in IndexDirectory.Scan(_directory, _sealed, _context.OpenStore))
        {
            _generation = Math.Max(_generation, place.Generation);
            if (definition is StaticIndexMapping byHand)
                built.Add((place, byHand));
            else if (!AddOrSetAside(_indexers, definition, () => OpenIndex(definition, place)))
                place.Discard(); // queries make it anew
        }

        Dictionary<string, IndexMapping> wanted =
            Analyzers.Attach(_statics?.ReadAll() ?? [], [.. built.Select(one => one.Definition)]);
        foreach (IGrouping<string, (IndexDirectory Place, StaticIndexMapping Definition)> versions in built.GroupBy(
            b => b.Definition.Name, StringComparer.OrdinalIgnoreCase))
            if (!wanted.ContainsKey(versions.Key))
                foreach ((IndexDirectory place, _) in versions)
                    place.Discard();
        foreach (IndexMapping definition in wanted.Values)
            OpenStatic(
                definition,
                [.. built.Where(b => string.Equals(b.Definition.Name, definition.Name, StringComparison.OrdinalIgnoreCase))]);
    }

    /// <summary>Resumes the index of a definition, and the previous one until the former has caught up.</summary>
    private void OpenStatic(IndexMapping wanted, List<(IndexDirectory Place, StaticIndexMapping Definition)> versions)
    {
        (IndexDirectory Place, StaticIndexMapping Definition) current =
            versions.LastOrDefault(v => v.Definition.IsSameAs(wanted));
        (IndexDirectory Place, StaticIndexMapping Definition) before = versions.LastOrDefault(v => v.Place != current.Place);
        foreach ((IndexDirectory place, _) in versions)
            if (place != current.Place && place != before.Place)
                place.Discard();

        bool hasBefore = before.Place is not null
            && AddOrSetAside(_indexers, wanted, () => OpenIndex(before.Definition, before.Place));
        if (!AddOrSetAside(
            hasBefore ? _replacements : _indexers, wanted,
            () => current.Place is null ? Make(wanted) : OpenIndex(wanted.AsBuilt(current.Definition), current.Place)))
            Remove(wanted.Name);
    }

    /// <summary>Adds an index, or keeps the error of its definition, which then appears among the indexes.</summary>
    private bool AddOrSetAside(
        Dictionary<string, DocumentIndexer> indexers, IndexMapping definition, Func<DocumentIndex> open)
    {
        try
        {
            Add(indexers, open());
            return true;
        }
        catch (Exception error) when (error is IndexSchemaException or InvalidIndexDefinitionException)
        {
            _broken[definition.Name] = BrokenIndex.Of(definition, error, _context.TimeProvider.GetUtcNow());
            return false;
        }
    }

    private DocumentIndex OpenIndex(IndexMapping definition, IndexDirectory place)
    {
        using DatabaseSnapshot snapshot = _context.BeginRead();
        return DocumentIndex.Open(
            ComputedDefinition.Compiled(definition, _context.Computing), place,
            definition.AnalyzersOver(_context.Analyzers), snapshot);
    }

    private DocumentIndex Make(IndexMapping definition)
    {
        using DatabaseSnapshot snapshot = _context.BeginRead();
        return DocumentIndex.Create(
            ComputedDefinition.Compiled(definition, _context.Computing),
            IndexDirectory.Create(_directory, definition, ++_generation, _sealed, _context.OpenStore),
            definition.AnalyzersOver(_context.Analyzers), snapshot);
    }

    private void Store(StaticIndexMapping[] mappings)
    {
        if (_statics is null)
            throw new InvalidOperationException("These indexes have no place for definitions.");
        lock (_definitionsLock)
        {
            ObjectDisposedException.ThrowIf(_closed, this);
            OutputTarget.RequireNoLoops(mappings, Definitions());
            StaticIndexMapping[] wanted = Array.FindAll( // of all before any is stored
                mappings, mapping => _statics.MayReplace(mapping.Definition, Control.Settings(mapping.Name).LockMode));
            Array.ForEach(wanted, mapping => _statics.Put(mapping.Definition));
            BuildAll([.. wanted.Select(Analyzers.Attach)]);
        }
    }

    private void BuildAll(IReadOnlyList<StaticIndexMapping> mappings)
    {
        lock (_lock)
            foreach (StaticIndexMapping mapping in mappings)
                Build(mapping);
    }

    /// <summary>Starts building the latest definition, if necessary. Requires the lock.</summary>
    private void Build(IndexMapping mapping)
    {
        ObjectDisposedException.ThrowIf(_closed, this);
        _broken.Remove(mapping.Name);
        if (_replacements.TryGetValue(mapping.Name, out DocumentIndexer? replacement))
        {
            if (replacement.Index.Definition.IsSameAs(mapping))
                return;
            Remove(_replacements, mapping.Name);
        }

        bool isNew = !_indexers.TryGetValue(mapping.Name, out DocumentIndexer? current);
        if (current?.Index.Definition.IsSameAs(mapping) == true)
            return;
        // One from a backup may refer to analyzers that this program does not have.
        AddOrSetAside(isNew ? _indexers : _replacements, mapping, () => Make(mapping));
    }

    private bool GiveUpReplacement(string name)
    {
        lock (_lock)
            if (!_replacements.ContainsKey(name) || _indexers.GetValueOrDefault(name)?.Index.Definition is not StaticIndexMapping)
                return false;

        if (Find(name)?.Definition is StaticIndexMapping before)
            _statics?.Put(before.Definition);
        lock (_lock)
            return Remove(_replacements, name);
    }

    /// <summary>Carries out the decision for a query. Requires the lock.</summary>
    /// <exception cref="InvalidQueryException">No index can have these fields.</exception>
    private DocumentIndex Take(AutoIndexStep step, out bool created)
    {
        ObjectDisposedException.ThrowIf(_closed, this);
        RemoveMade(step.Retired.Select(unused => unused.Index));
        created = step.Indexer is null;
        try
        {
            if (step.Indexer is { } indexer)
            {
                if (step.Definition is AutoIndexDefinition wider)
                    Widen(indexer, wider);
                return indexer.Index;
            }

            DocumentIndex made = Make(Named(step.Definition!, null)); // a new index has a definition
            Add(_indexers, made);
            return made;
        }
        catch (IndexSchemaException error)
        {
            throw new InvalidQueryException($"No index can have the fields of this query: {error.Message}");
        }
    }

    /// <summary>Adds fields to an index, under the corresponding name.</summary>
    private void Widen(DocumentIndexer indexer, AutoIndexDefinition definition)
    {
        string name = indexer.Index.Name;
        definition = (AutoIndexDefinition)Named(definition, indexer);
        indexer.Index.Widen(definition);
        _indexers.Remove(name);
        _indexers.Add(definition.Name, indexer);
        NoteChoiceChanged();
        _broken.Remove(definition.Name);
        Control.Rename(name, definition.Name);
        indexer.Wake();
    }

    /// <summary>Returns a definition with a name that no index other than <paramref name="own"/> has.</summary>
    private IndexMapping Named(IndexMapping definition, DocumentIndexer? own) =>
        _indexers.TryGetValue(definition.Name, out DocumentIndexer? other) && other != own ? definition.WithHash : definition;

    private string? NameOf(string name)
    {
        if (name.StartsWith(ReplacementPrefix, StringComparison.OrdinalIgnoreCase))
            name = name[ReplacementPrefix.Length..];
        lock (_lock)
            return _indexers.GetValueOrDefault(name)?.Index.Name ?? _broken.GetValueOrDefault(name)?.Definition.Name;
    }

    private DocumentIndex FindOrReplacement(string name)
    {
        if (name.StartsWith(ReplacementPrefix, StringComparison.OrdinalIgnoreCase))
            lock (_lock)
                if (_replacements.TryGetValue(name[ReplacementPrefix.Length..], out DocumentIndexer? replacement))
                    return replacement.Index;
        return Find(name) ?? throw new IndexNotFoundException(name);
    }

    internal IReadOnlyList<DocumentIndex> Indexes()
    {
        lock (_lock)
            return [.. _indexers.Values.Concat(_replacements.Values).Select(i => i.Index)];
    }

    private void Add(Dictionary<string, DocumentIndexer> indexers, DocumentIndex index)
    {
        lock (_lock)
        {
            var indexer = new DocumentIndexer(index, _context, Control.Switch(index.Name), _stop.Token);
            indexers.Add(index.Name, indexer);
            NoteChoiceChanged();
            _broken.Remove(index.Name);
            index.NoteUse(index.Definition.Fields.Count - 1, _context.TimeProvider.GetUtcNow());
            indexer.Start(OnCaughtUp);
        }
    }

    /// <summary>Removes auto-indexes.</summary>
    private void RemoveMade(IEnumerable<DocumentIndex> indexes)
    {
        foreach (DocumentIndex index in indexes)
            if (Remove(index.Name))
                Control.Forget(index.Name);
    }

    private bool Remove(string name)
    {
        ObjectDisposedException.ThrowIf(_closed, this);
        return Remove(_indexers, name);
    }

    private bool Remove(Dictionary<string, DocumentIndexer> indexers, string name)
    {
        lock (_lock)
        {
            if (!indexers.Remove(name, out DocumentIndexer? indexer))
                return false;
            NoteChoiceChanged();
            _stopping.RemoveAll(t => t.IsCompleted);
            _stopping.Add(indexer.StopAsync(deleteFiles: true));
            return true;
        }
    }

    /// <summary>
    /// Handles an index that has caught up: it replaces the one for which it was built, and auto-indexes whose fields it covers
    /// are removed.
    /// </summary>
    private void OnCaughtUp(DocumentIndexer indexer)
    {
        lock (_lock)
        {
            if (_closed)
                return;
            DocumentIndex index = indexer.Index;
            if (_replacements.GetValueOrDefault(index.Name) == indexer)
            {
                Remove(_indexers, index.Name);
                _replacements.Remove(index.Name);
                _indexers.Add(index.Name, indexer);
                NoteChoiceChanged();
                return;
            }

            if (_indexers.GetValueOrDefault(index.Name) != indexer)
                return;
            NoteChoiceChanged();
            RemoveMade(AutoIndexChoice.Superseded(index, Indexes(), _context.Options, _context.TimeProvider.GetUtcNow()));
        }
    }
}
