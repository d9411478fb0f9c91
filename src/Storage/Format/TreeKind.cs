namespace Treepie.Storage.Format;

/// <summary>The kind of object that a catalogue name refers to.</summary>
internal enum TreeKind : byte
{
    Tree = 1,
    Map = 2,
}
