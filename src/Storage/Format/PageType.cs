namespace Treepie.Storage.Format;

/// <summary>The type of a page. 0 is never written, so a page of zeros is invalid.</summary>
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
