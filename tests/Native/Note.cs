namespace Treepie.NativeProgram;

/// <summary>A document that is kept compressed.</summary>
internal sealed record Note(string Title, string Text);
