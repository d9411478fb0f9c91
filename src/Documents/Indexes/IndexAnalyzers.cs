using Treepie.Indexes.Definitions;
using Treepie.Indexing.Analysis;
using Treepie.Json;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// Custom analyzers stored in a database, composed of parts. Fields of indexes refer to them by name, like to analyzers provided
/// by the program. They are as durable as documents and included in every backup and dump. When an analyzer changes, the indexes
/// that use it are rebuilt side by side; the old ones answer with the old analyzer until then. Thread-safe.
/// </summary>
public sealed class IndexAnalyzers
{
    private readonly IndexingContext _context;
    private readonly Lock _definitionsLock;
    private readonly Func<IReadOnlyList<IndexMapping>> _indexes;
    private readonly Action<IReadOnlyList<StaticIndexMapping>> _build;

    /// <param name="context">The context that indexes need of their database.</param>
    /// <param name="definitionsLock">Held while definitions change.</param>
    /// <param name="indexes">Returns the current definitions of all indexes.</param>
    /// <param name="build">Rebuilds the indexes whose definitions have changed.</param>
    internal IndexAnalyzers(
        IndexingContext context, Lock definitionsLock, Func<IReadOnlyList<IndexMapping>> indexes,
        Action<IReadOnlyList<StaticIndexMapping>> build)
    {
        _context = context;
        _definitionsLock = definitionsLock;
        _indexes = indexes;
        _build = build;
    }

    /// <summary>Returns all custom analyzers, by name.</summary>
    public IReadOnlyCollection<AnalyzerDefinition> List() => Kept().All;

    /// <summary>Validates definitions without storing them.</summary>
    /// <param name="definitions">The definitions.</param>
    /// <param name="options">The options of the database; names of analyzers provided by the program cannot be reused.</param>
    /// <exception cref="InvalidAnalyzerException">A definition is not valid.</exception>
    public static void Check(IReadOnlyList<AnalyzerDefinition> definitions, DatabaseOptions options) =>
        Check(definitions, options, []);

    /// <summary>As the other, but leaves out those that a database has already.</summary>
    internal static void Check(
        IReadOnlyList<AnalyzerDefinition> definitions, DatabaseOptions options, IReadOnlyList<AnalyzerDefinition> kept)
    {
        ArgumentNullException.ThrowIfNull(options);
        Check(definitions, options.Analyzers, kept);
    }

    private static void Check(
        IReadOnlyList<AnalyzerDefinition> definitions, AnalyzerSet ofProgram, IReadOnlyList<AnalyzerDefinition> kept)
    {
        ArgumentNullException.ThrowIfNull(definitions);
        AnalyzerDefinition[] added = [.. definitions.Except(kept)];
        foreach (AnalyzerDefinition definition in added)
            CustomAnalyzers.Require(definition, ofProgram);
        if (added.Length > 0 && definitions.Count > CustomAnalyzers.MaxCount)
            throw TooMany(added[^1].Name);
    }

    /// <summary>
    /// Stores analyzers, replacing those of the same name; durable when the method returns. Indexes that use a changed analyzer
    /// are rebuilt.
    /// </summary>
    /// <exception cref="InvalidAnalyzerException">A definition is not valid; nothing was changed.</exception>
    public void Put(params IReadOnlyList<AnalyzerDefinition> definitions)
    {
        Check(definitions, _context.Analyzers, []);
        lock (_definitionsLock)
        {
            CustomAnalyzers all = Kept().With(definitions);
            if (all.Count > CustomAnalyzers.MaxCount)
                throw TooMany(definitions[^1].Name);
            Set(all);
        }
    }

    /// <summary>Deletes an analyzer; returns false if it does not exist.</summary>
    /// <exception cref="InvalidAnalyzerException">An index uses the analyzer; nothing was changed.</exception>
    public bool Delete(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        lock (_definitionsLock)
        {
            CustomAnalyzers kept = Kept();
            if (kept.Without(name) is not { } others)
                return false;
            RequireUnused(kept, name);
            Set(others);
            return true;
        }
    }

    /// <summary>Replaces all analyzers by others, which an action stores. The others have been checked.</summary>
    /// <exception cref="InvalidAnalyzerException">An index uses one that would be removed; nothing was changed.</exception>
    internal void Replace(IReadOnlyList<AnalyzerDefinition> others, Action store)
    {
        lock (_definitionsLock)
        {
            CustomAnalyzers kept = Kept();
            foreach (string name in kept.All.Select(static one => one.Name))
                if (!others.Any(one => string.Equals(one.Name, name, StringComparison.OrdinalIgnoreCase)))
                    RequireUnused(kept, name);
            store();
            Rebuild();
        }
    }

    private void RequireUnused(CustomAnalyzers kept, string name)
    {
        string[] users =
        [
            .. _indexes().OfType<StaticIndexMapping>()
                .Where(index => kept.UsedBy(index.Definition, _context.Analyzers).ContainsKey(name))
                .Select(static index => $"'{index.Name}'")
        ];
        if (users.Length > 0)
            throw new InvalidAnalyzerException(
                name,
                $"it cannot be deleted, as {(users.Length == 1 ? "the index uses" : "these indexes use")} it: "
                    + $"{string.Join(", ", users)}. Delete or redefine {(users.Length == 1 ? "it" : "them")} first.");
    }

    /// <summary>Merges imported analyzers; skips those that cannot be used here.</summary>
    internal void Merge(ReadOnlyMemory<byte> json)
    {
        lock (_definitionsLock)
        {
            CustomAnalyzers all = Kept().With(
                CustomAnalyzers.Usable(NamedCode.FromJson(json)).All
                    .Select(static one => new AnalyzerDefinition(one.Name, one.Code)));
            if (all.Count <= CustomAnalyzers.MaxCount)
                Set(all);
        }
    }

    /// <summary>
    /// Returns the mappings of definitions by name, as <see cref="Attach(StaticIndexMapping)"/> does, with the analyzers that
    /// indexes were built with.
    /// </summary>
    internal Dictionary<string, IndexMapping> Attach(
        IReadOnlyList<IndexDefinition> definitions, IReadOnlyList<StaticIndexMapping> built) => definitions.ToDictionary(
        static definition => definition.Name,
        definition => (IndexMapping)Attach(
            new StaticIndexMapping(definition).WithAnalyzers(
                built.LastOrDefault(one => IndexDefinitionJson.AreSame(one.Definition, definition))?.Analyzers
                    ?? new Dictionary<string, string>())),
        StringComparer.OrdinalIgnoreCase);

    /// <summary>
    /// Returns the definition of an index with the current analyzers that it refers to. One that it was built with and that was
    /// shared, but is no longer or cannot be read now, stays.
    /// </summary>
    internal StaticIndexMapping Attach(StaticIndexMapping mapping)
    {
        var used = new Dictionary<string, string>(mapping.Analyzers, StringComparer.OrdinalIgnoreCase);
        CustomAnalyzers now = _context.CustomAnalyzers(mayLackShared: true);
        foreach ((string name, string code) in now.UsedBy(mapping.Definition, _context.Analyzers))
            used[name] = code;
        return mapping.WithAnalyzers(used);
    }

    /// <summary>Rebuilds indexes whose shared analyzers have changed.</summary>
    internal void Refresh()
    {
        lock (_definitionsLock)
            Rebuild();
    }

    private void Rebuild() => _build([.. _indexes().OfType<StaticIndexMapping>().Select(Attach)]);

    private static InvalidAnalyzerException TooMany(string name) =>
        new(name, $"a database has at most {CustomAnalyzers.MaxCount} analyzers. Delete one first.");

    private CustomAnalyzers Kept()
    {
        using DatabaseSnapshot snapshot = _context.BeginRead();
        return CustomAnalyzers.Of(snapshot);
    }

    private void Set(CustomAnalyzers analyzers)
    {
        if (_context.WriteSetting is not { } write)
            throw new InvalidOperationException("These indexes have no place for analyzers.");
        write(CustomAnalyzers.SettingName, analyzers.ToJson());
        Rebuild();
    }
}
