using System.Security.Cryptography;
using System.Text;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Json;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie;

/// <summary>
/// Everything that is set of a database as a whole, at one moment: <c>database.GetRecord()</c>,
/// <c>database.SetRecordAsync(…)</c>. Immutable.
/// </summary>
public sealed record DatabaseRecord
{
    /// <summary>
    /// Names this state of the record: it is the same number for equal records and another one for any other. Positive and below
    /// 2^48, so that it is exact in every JSON reader. 0 in a record that was not read from a database.
    /// </summary>
    public long Etag { get; private init; }

    /// <summary>Settings of expiration, refresh and archival; a task that is not in here is off.</summary>
    public IReadOnlyDictionary<LifecycleTask, LifecycleSettings> Lifecycle { get; init; } =
        new Dictionary<LifecycleTask, LifecycleSettings>();

    /// <summary>The configuration of revisions; null if there is none.</summary>
    public RevisionsConfiguration? Revisions { get; init; }

    /// <summary>The policies of time series; null if there are none.</summary>
    public TimeSeriesConfiguration? TimeSeries { get; init; }

    /// <summary>The configuration of compression; null if there is none.</summary>
    public DocumentCompressionConfiguration? Compression { get; init; }

    /// <summary>Custom analyzers.</summary>
    public IReadOnlyList<AnalyzerDefinition> Analyzers { get; init; } = [];

    /// <summary>Custom sorters.</summary>
    public IReadOnlyList<SorterDefinition> Sorters { get; init; } = [];

    /// <summary>The settings of programs (<see cref="DatabaseSettings"/>): JSON objects by name.</summary>
    public IReadOnlyDictionary<string, ReadOnlyMemory<byte>> Settings { get; init; } =
        new Dictionary<string, ReadOnlyMemory<byte>>();

    /// <summary>Throws if a database with these options cannot have this record.</summary>
    /// <exception cref="InvalidDocumentException">Settings contradict each other or are out of range.</exception>
    /// <exception cref="InvalidAnalyzerException">An analyzer is not valid.</exception>
    /// <exception cref="InvalidSorterException">A sorter is not valid.</exception>
    public void Check(DatabaseOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        _ = ToStored(options, []);
    }

    /// <summary>
    /// Returns what is stored of this record. What a database has already is not checked again: limits and names may have changed
    /// since, and that keeps nobody from changing something else.
    /// </summary>
    /// <exception cref="InvalidDocumentException">Settings contradict each other or are out of range.</exception>
    /// <exception cref="InvalidAnalyzerException">An analyzer is not valid.</exception>
    /// <exception cref="InvalidSorterException">A sorter is not valid.</exception>
    internal SortedDictionary<string, byte[]> ToStored(DatabaseOptions options, SortedDictionary<string, byte[]> stored)
    {
        DatabaseRecord kept = Of(stored);
        foreach ((LifecycleTask task, LifecycleSettings settings) in Lifecycle)
            if (settings != kept.Lifecycle.GetValueOrDefault(task))
                settings.Validate(task);
        IndexAnalyzers.Check(Analyzers, options, kept.Analyzers);
        DatabaseSorters.Check(Sorters, options.CustomOrders, kept.Sorters);
        foreach ((string name, ReadOnlyMemory<byte> json) in Settings)
            if (!stored.TryGetValue(DatabaseSettings.Prefix + name, out byte[]? known) || !json.Span.SequenceEqual(known))
                DatabaseSettings.Check(name, json);
        return ToStored();
    }

    /// <summary>Reads the record in a snapshot or a transaction.</summary>
    internal static DatabaseRecord Of(SortedDictionary<string, byte[]> stored)
    {
        var lifecycle = new Dictionary<LifecycleTask, LifecycleSettings>();
        foreach (LifecycleTask task in Enum.GetValues<LifecycleTask>())
            if (SettingReader.Read(
                stored.GetValueOrDefault(LifecycleSettings.NameOf(task)),
                json => LifecycleSettings.FromJson(json, task)) is { } settings)
                lifecycle[task] = settings;
        return new DatabaseRecord
        {
            Etag = EtagOf(stored),
            Lifecycle = lifecycle,
            Revisions = Read(RevisionsConfiguration.SettingName, RevisionsConfiguration.FromJson),
            TimeSeries = Read(TimeSeriesConfiguration.SettingName, TimeSeriesConfiguration.FromJson),
            Compression = Read(DocumentCompressionConfiguration.SettingName, DocumentCompressionConfiguration.FromJson),
            Analyzers = [.. Code(CustomAnalyzers.SettingName).Select(static one => new AnalyzerDefinition(one.Name, one.Code))],
            Sorters = [.. Code(DatabaseSorters.SettingName).Select(static one => new SorterDefinition(one.Name, one.Code))],
            Settings = stored.Where(static one => one.Key.StartsWith(DatabaseSettings.Prefix, StringComparison.Ordinal))
                .ToDictionary(
                    static one => one.Key[DatabaseSettings.Prefix.Length..], static one => new ReadOnlyMemory<byte>(one.Value)),
        };

        IReadOnlyList<(string Name, string Code)> Code(string name) =>
            Read(name, NamedCode.FromJson)?.All ?? [];

        T? Read<T>(string name, Func<ReadOnlyMemory<byte>, T> read)
            where T : class =>
            SettingReader.Read(stored.GetValueOrDefault(name), read);
    }

    /// <summary>Returns the stored settings, by name.</summary>
    internal static SortedDictionary<string, byte[]> Stored(KindItems items)
    {
        var stored = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
        using KindCursor cursor = items.Under(KindKey.Prefix(Kind.Setting, default));
        while (cursor.MoveNext())
            stored[Encoding.UTF8.GetString(cursor.Record.Name)] = cursor.Record.Value.ToArray();
        return stored;
    }

    private SortedDictionary<string, byte[]> ToStored()
    {
        var stored = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
        foreach ((LifecycleTask task, LifecycleSettings settings) in Lifecycle)
            Add(LifecycleSettings.NameOf(task), settings.ToJson());
        Add(RevisionsConfiguration.SettingName, Revisions?.ToJson());
        Add(TimeSeriesConfiguration.SettingName, TimeSeries?.ToJson());
        Add(DocumentCompressionConfiguration.SettingName, Compression?.ToJson());
        Add(
            CustomAnalyzers.SettingName,
            NamedCode.Empty.With(Analyzers.Select(static one => (one.Name, one.Code))).ToJson());
        Add(DatabaseSorters.SettingName, NamedCode.Empty.With(Sorters.Select(static one => (one.Name, one.Code))).ToJson());
        foreach ((string name, ReadOnlyMemory<byte> json) in Settings)
            Add(DatabaseSettings.Prefix + name, json.ToArray());
        return stored;

        void Add(string name, byte[]? json)
        {
            if (json is not null)
                stored[name] = json;
        }
    }

    internal static long EtagOf(SortedDictionary<string, byte[]> stored)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        foreach ((string name, byte[] json) in stored)
        {
            hash.AppendData(Encoding.UTF8.GetBytes($"{name} {json.Length} "));
            hash.AppendData(json);
        }

        return Math.Max(1, BitConverter.ToInt64(hash.GetHashAndReset()) & 0xFFFF_FFFF_FFFF);
    }
}
