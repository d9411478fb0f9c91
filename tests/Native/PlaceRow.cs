namespace Treepie.NativeProgram;

/// <summary>A row of a query, with a member of another document.</summary>
internal sealed record PlaceRow(string Name, string? Twin);
