namespace Treepie.Documents.Tests.Linq;

public sealed record OrderRow(string? City, int Number);
