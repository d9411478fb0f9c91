using System.Text.Json;

namespace Treepie.Queries;

/// <summary>A query as it is asked.</summary>
public sealed record QueryRequest
{
    /// <summary>RQL.</summary>
    public required string Text { get; init; }

    /// <summary>A JSON object of parameters, by name without <c>$</c>; undefined: none.</summary>
    public JsonElement Parameters { get; init; }

    /// <summary>Wait until the index has everything committed before the query.</summary>
    public bool WaitForNonStaleResults { get; init; }

    /// <summary>Longest such wait; null takes the database's default.</summary>
    public TimeSpan? WaitTimeout { get; init; }

    /// <summary>Results carry their metadata only.</summary>
    public bool MetadataOnly { get; init; }

    /// <summary>Skip given apart from the text (never by clients of the wire).</summary>
    public long Start { get; init; }

    /// <summary>Most results given apart from the text.</summary>
    public long PageSize { get; init; } = long.MaxValue;
}
