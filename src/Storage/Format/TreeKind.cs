namespace Treepie.Storage.Format;

/// <summary>What a name of the catalogue stands for.</summary>
internal enum TreeKind : byte
{
    Tree = 1,
    Map = 2,
}
