using Treepie.Indexes.Definitions;
using Treepie.Indexing.Analysis;
using Treepie.Json;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// Analyzers that are kept with a database, put together from parts: fields of its indexes name them as they do those of the
/// program. They are data, durable with the documents, in every backup and dump. An index whose analyzer changes is built anew
/// beside the old one, which answers with the old analyzer until then. Thread-safe.
/// </summary>
public sealed class IndexAnalyzers
{
    private readonly IndexingContext _context;
    private readonly Lock _definitionsLock;
    private readonly Func<IReadOnlyList<IndexMapping>> _indexes;
    private readonly Action<IReadOnlyList<StaticIndexMapping>> _build;

    /// <param name="context">What indexes need of their database.</param>
    /// <param name="definitionsLock">Held while definitions change.</param>
    /// <param name="indexes">What is wanted of all indexes.</param>
    /// <param name="build">Brings what is built in line with what is wanted.</param>
    internal IndexAnalyzers(
        IndexingContext context, Lock definitionsLock, Func<IReadOnlyList<IndexMapping>> indexes,
        Action<IReadOnlyList<StaticIndexMapping>> build)
    {
        _context = context;
        _definitionsLock = definitionsLock;
        _indexes = indexes;
        _build = build;
    }

    /// <summary>All of them, by name.</summary>
    public IReadOnlyCollection<AnalyzerDefinition> List() => Kept().All;

    /// <summary>Looks whether definitions could be kept.</summary>
    /// <param name="definitions">The definitions.</param>
    /// <param name="options">Of the database; analyzers of its program keep their names.</param>
    /// <exception cref="InvalidAnalyzerException">One of them is not valid.</exception>
    public static void Check(IReadOnlyList<AnalyzerDefinition> definitions, DatabaseOptions options) =>
        Check(definitions, (options ?? throw new ArgumentNullException(nameof(options))).Analyzers);

    private static void Check(IReadOnlyList<AnalyzerDefinition> definitions, AnalyzerSet ofProgram)
    {
        ArgumentNullException.ThrowIfNull(definitions);
        foreach (AnalyzerDefinition definition in definitions)
            CustomAnalyzers.Require(definition, ofProgram);
        if (definitions.Count > CustomAnalyzers.MaxCount)
            throw TooMany(definitions[^1].Name);
    }

    /// <summary>
    /// Keeps analyzers, each in the place of any of its name; durable when this returns. Indexes that use one that has changed
    /// are built anew.
    /// </summary>
    /// <exception cref="InvalidAnalyzerException">One of them is not valid; nothing was changed.</exception>
    public void Put(params IReadOnlyList<AnalyzerDefinition> definitions)
    {
        Check(definitions, _context.Analyzers);
        lock (_definitionsLock)
        {
            CustomAnalyzers all = Kept().With(definitions);
            if (all.Count > CustomAnalyzers.MaxCount)
                throw TooMany(definitions[^1].Name);
            Set(all);
        }
    }

    /// <summary>Forgets an analyzer; false if there is none of the name.</summary>
    /// <exception cref="InvalidAnalyzerException">An index uses it; nothing was changed.</exception>
    public bool Delete(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        lock (_definitionsLock)
        {
            CustomAnalyzers kept = Kept();
            if (kept.Without(name) is not { } others)
                return false;
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
            Set(others);
            return true;
        }
    }

    /// <summary>Takes over what an import brings; what cannot be used here is passed over.</summary>
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

    /// <summary>What is wanted of an index, with the analyzers it names as they are now.</summary>
    internal StaticIndexMapping Attach(StaticIndexMapping mapping) =>
        mapping.WithAnalyzers(Kept().UsedBy(mapping.Definition, _context.Analyzers));

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
        _build([.. _indexes().OfType<StaticIndexMapping>().Select(Attach)]);
    }
}
