namespace Treepie.Server.Health;

/// <summary>Something that is wrong now.</summary>
/// <param name="IsCritical">Whether the server cannot do its work; else somebody should look at it soon.</param>
/// <param name="Database">The database it is about; null: the server.</param>
/// <param name="Message">What it is.</param>
internal sealed record HealthProblem(bool IsCritical, string? Database, string Message);
