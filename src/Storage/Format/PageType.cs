namespace Treepie.Storage.Format;

/// <summary>What a page is; 0 is never written, so that a page of zeros is not taken for one.</summary>
internal enum PageType : byte
{
    Meta = 1,
    Branch = 2,
    Leaf = 3,
    Overflow = 4,
    Bitmap = 5,
    MapDirectory = 6,
    MapBucket = 7,
}
