namespace Treepie.NativeProgram;

/// <summary>A part of an item.</summary>
internal sealed record Part(string Sku, int Amount);
