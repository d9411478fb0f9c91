namespace Shop;

/// <summary>What somebody looked for: a document of the collection SearchEntries, in the database of the log.</summary>
public sealed record SearchEntry(string Words, int Found, DateTimeOffset At)
{
    public string? Id { get; init; }
}
