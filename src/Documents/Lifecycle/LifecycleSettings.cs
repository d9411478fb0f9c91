using System.Text.Json;
using Treepie.Json;

namespace Treepie.Lifecycle;

/// <summary>Settings of the expiration, refresh or archival of documents.</summary>
public sealed record LifecycleSettings
{
    /// <summary>The maximum of <see cref="Frequency"/>: one day.</summary>
    public static readonly TimeSpan LongestFrequency = TimeSpan.FromDays(1);

    /// <summary>
    /// Whether the task is disabled. Documents that become due meanwhile are processed when it is enabled again.
    /// </summary>
    public bool IsDisabled { get; init; }

    /// <summary>The interval between two runs, from one second to one day. Default: one minute.</summary>
    public TimeSpan Frequency { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>The maximum number of documents processed per run. Null: all that are due.</summary>
    public long? MaxItemsPerRun { get; init; }

    internal void Validate(LifecycleTask task)
    {
        if (Frequency < TimeSpan.FromSeconds(1) || Frequency > LongestFrequency)
            throw new InvalidDocumentException(
                $"The frequency of {NameOf(task)} is {Frequency.TotalSeconds:N0} seconds; it must be from 1 to "
                    + $"{LongestFrequency.TotalSeconds:N0}. Nothing was changed.");
        if (MaxItemsPerRun is <= 0)
            throw new InvalidDocumentException(
                $"The most documents of a run of {NameOf(task)} are {MaxItemsPerRun:N0}; it must be at least 1, or nothing for "
                    + $"all. Nothing was changed.");
    }

    /// <summary>Returns the name under which the settings of a task are stored.</summary>
    internal static string NameOf(LifecycleTask task) => task switch
    {
        LifecycleTask.Expiration => "expiration",
        LifecycleTask.Refresh => "refresh",
        _ => "data-archival",
    };

    internal byte[] ToJson() => JsonBytes.Of(json =>
    {
        json.WriteStartObject();
        json.WriteBoolean("Disabled"u8, IsDisabled);
        json.WriteNumber("FrequencySeconds"u8, (long)Frequency.TotalSeconds);
        if (MaxItemsPerRun is { } most)
            json.WriteNumber("MaxItems"u8, most);
        json.WriteEndObject();
    });

    internal static LifecycleSettings FromJson(ReadOnlyMemory<byte> bytes, LifecycleTask task)
    {
        using var json = JsonDocument.Parse(bytes);
        var settings = new LifecycleSettings
        {
            IsDisabled = json.RootElement.GetProperty("Disabled"u8).GetBoolean(),
            Frequency = TimeSpan.FromSeconds(json.RootElement.GetProperty("FrequencySeconds"u8).GetInt64()),
            MaxItemsPerRun = json.RootElement.TryGetProperty("MaxItems"u8, out JsonElement most) ? most.GetInt64() : null,
        };
        settings.Validate(task);
        return settings;
    }
}
