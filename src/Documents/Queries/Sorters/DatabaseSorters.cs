using Treepie.Indexing.Queries;
using Treepie.Json;
using Treepie.Kinds;
using Treepie.Queries.Sorters;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// The sorters stored in a database: orders defined as data, which queries name in <c>order by custom(Field, 'Name')</c>. They
/// are durable with the documents and part of every backup and dump. A query started after a change uses the new definition.
/// Thread-safe.
/// </summary>
public sealed class DatabaseSorters
{
    /// <summary>Most sorters of a database.</summary>
    public const int MaxCount = 64;

    internal const string SettingName = "sorters";

    private readonly Func<DatabaseSnapshot> _beginRead;
    private readonly Action<string, byte[]?> _write;
    private readonly Func<IReadOnlyList<SorterDefinition>> _shared;
    private readonly IReadOnlyDictionary<string, ICustomOrder> _ofProgram;
    private readonly Lock _changing = new();
    private Kept _kept;

    internal DatabaseSorters(
        Func<DatabaseSnapshot> beginRead, Action<string, byte[]?> write, Func<IReadOnlyList<SorterDefinition>> shared,
        IReadOnlyDictionary<string, ICustomOrder> ofProgram)
    {
        _beginRead = beginRead;
        _write = write;
        _shared = shared;
        _ofProgram = ofProgram;
        _kept = new Kept(null, [], ofProgram);
    }

    /// <summary>Returns all sorters, ordered by name.</summary>
    public IReadOnlyList<SorterDefinition> List() =>
        [.. Read().All.Select(static one => new SorterDefinition(one.Name, one.Code))];

    /// <summary>Checks whether definitions are valid, without storing them.</summary>
    /// <param name="definitions">The definitions.</param>
    /// <exception cref="InvalidSorterException">A definition is not valid.</exception>
    public static void Check(params IReadOnlyList<SorterDefinition> definitions) =>
        Check(definitions, new Dictionary<string, ICustomOrder>());

    /// <summary>As the other, but leaves out those that a database has already.</summary>
    internal static void Check(
        IReadOnlyList<SorterDefinition> definitions, IReadOnlyDictionary<string, ICustomOrder> ofProgram,
        params IReadOnlyList<SorterDefinition> kept)
    {
        ArgumentNullException.ThrowIfNull(definitions);
        SorterDefinition[] added = [.. definitions.Except(kept)];
        foreach (SorterDefinition definition in added)
        {
            if (!NamedCode.IsName(definition.Name))
                throw new InvalidSorterException(
                    definition.Name[..Math.Min(definition.Name.Length, NamedCode.MaxNameLength)], NamedCode.NameRule);
            SorterParts.Read(definition.Name, definition.Code);
            if (ofProgram.ContainsKey(definition.Name))
                throw new InvalidSorterException(definition.Name, "the program has an order of this name. Choose another.");
        }

        if (added.Length > 0 && definitions.Count > MaxCount)
            throw TooMany(added[^1].Name);
    }

    /// <summary>Stores sorters, each replacing any of the same name; durable when this returns.</summary>
    /// <param name="definitions">The definitions.</param>
    /// <exception cref="InvalidSorterException">A definition is not valid; nothing was changed.</exception>
    public void Put(params IReadOnlyList<SorterDefinition> definitions)
    {
        Check(definitions, _ofProgram);
        lock (_changing)
        {
            NamedCode all = Read().With(definitions.Select(static one => (one.Name, one.Code)));
            if (all.All.Count > MaxCount)
                throw TooMany(definitions[^1].Name);
            _write(SettingName, all.ToJson());
        }
    }

    /// <summary>Deletes a sorter. Queries that name it fail from then on.</summary>
    /// <param name="name">Its name.</param>
    /// <returns>False if there is no sorter of this name.</returns>
    public bool Delete(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        lock (_changing)
        {
            if (Read().Without(name) is not { } others)
                return false;
            _write(SettingName, others.ToJson());
            return true;
        }
    }

    /// <summary>Runs a change of the settings of the database that may replace all sorters.</summary>
    internal void Change(Action change)
    {
        lock (_changing)
            change();
    }

    /// <summary>Returns the sorters of a dump that are valid on this machine.</summary>
    internal static NamedCode Usable(NamedCode given) =>
        given.Where(static (name, code) => NamedCode.IsName(name) && TryMake(name, code) is not null);

    /// <summary>Adds imported sorters; adds none if the total would exceed <see cref="MaxCount"/>.</summary>
    internal void Merge(ReadOnlyMemory<byte> json)
    {
        lock (_changing)
        {
            NamedCode all = Read().With(Usable(NamedCode.FromJson(json)).All);
            if (all.All.Count <= MaxCount)
                _write(SettingName, all.ToJson());
        }
    }

    /// <summary>
    /// Returns the orders of the program, those stored in the database, and shared ones. If several have the same name, the first
    /// of these takes precedence.
    /// </summary>
    internal IReadOnlyDictionary<string, ICustomOrder> Orders()
    {
        byte[]? json = Setting();
        IReadOnlyList<SorterDefinition> shared = _shared();
        Kept kept = Volatile.Read(ref _kept);
        bool isSame = json is null ? kept.Json is null : kept.Json.AsSpan().SequenceEqual(json);
        if (isSame && (ReferenceEquals(shared, kept.Shared) || shared.SequenceEqual(kept.Shared)))
            return kept.Orders;
        var orders = new Dictionary<string, ICustomOrder>(StringComparer.OrdinalIgnoreCase);
        foreach (SorterDefinition one in shared)
            if (TryMake(one.Name, one.Code) is { } order)
                orders[one.Name] = order;
        if (json is not null)
            foreach ((string name, string code) in (SettingReader.Read(json, NamedCode.FromJson) ?? NamedCode.Empty).All)
                if (TryMake(name, code) is { } order)
                    orders[name] = order;
        foreach ((string name, ICustomOrder order) in _ofProgram)
            orders[name] = order;
        Volatile.Write(ref _kept, new Kept(json, shared, orders));
        return orders;
    }

    /// <summary>Returns the order that a definition describes; null if it cannot be used on this machine.</summary>
    private static ICustomOrder? TryMake(string name, string code)
    {
        try
        {
            return SorterParts.Read(name, code);
        }
        catch (InvalidSorterException)
        {
            return null;
        }
    }

    private static InvalidSorterException TooMany(string name) =>
        new(name, $"a database has at most {MaxCount} sorters. Delete one first.");

    private NamedCode Read() => SettingReader.Read(Setting(), NamedCode.FromJson) ?? NamedCode.Empty;

    private byte[]? Setting()
    {
        using DatabaseSnapshot snapshot = _beginRead();
        return snapshot.Setting(SettingName);
    }

    private sealed record Kept(
        byte[]? Json, IReadOnlyList<SorterDefinition> Shared, IReadOnlyDictionary<string, ICustomOrder> Orders);
}
