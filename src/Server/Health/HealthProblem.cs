namespace Treepie.Server.Health;

/// <summary>A current problem.</summary>
/// <param name="IsCritical">Whether it prevents the server from working; otherwise it needs attention soon.</param>
/// <param name="Database">The database with the problem; null for the server as a whole.</param>
/// <param name="Message">The description of the problem.</param>
internal sealed record HealthProblem(bool IsCritical, string? Database, string Message);
