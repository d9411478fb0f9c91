namespace Treepie.NativeProgram;

/// <summary>A row of a query.</summary>
internal sealed record ItemRow(string Name, int Twice);
