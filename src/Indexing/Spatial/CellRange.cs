namespace Treepie.Indexing.Spatial;

/// <summary>A range of the curve.</summary>
/// <param name="First">Its first cell.</param>
/// <param name="Last">Its last cell.</param>
/// <param name="IsInside">Whether every point in it belongs to the region.</param>
internal readonly record struct CellRange(ulong First, ulong Last, bool IsInside);

/// <summary>
/// A square of the curve: the cells that share the first 2 · <paramref name="Level"/> bits of <paramref name="First"/>.
/// </summary>
internal readonly record struct CellSquare(ulong First, int Level)
{
    public static CellSquare Root => new(0, 0);

    public ulong Last => First | Rest(Level);

    /// <summary>Its area in degrees, including borders.</summary>
    public GeoBox Box
    {
        get
        {
            GridPoint any = HilbertCurve.Decode(First);
            double side = 1UL << (HilbertCurve.Levels - Level);
            double x = Math.Floor(any.X / side) * side, y = Math.Floor(any.Y / side) * side;
            return new GeoBox(
                (x * GridPoint.DegreesPerX) - 180, (y * GridPoint.DegreesPerY) - 90, ((x + side) * GridPoint.DegreesPerX) - 180,
                ((y + side) * GridPoint.DegreesPerY) - 90);
        }
    }

    /// <summary>
    /// The area in degrees of all coordinates that are stored in one of its cells: rounding to steps extends its area by
    /// half a step.
    /// </summary>
    public GeoBox Reach
    {
        get
        {
            GeoBox box = Box.Grow(GridPoint.DegreesPerX / 2);
            return new GeoBox(Math.Max(-180, box.MinX), Math.Max(-90, box.MinY), Math.Min(180, box.MaxX), Math.Min(90, box.MaxY));
        }
    }

    /// <summary>Returns one of its four quarters, numbered in the order of the curve.</summary>
    public CellSquare Quarter(int number) => new(First | ((ulong)number << (62 - (2 * Level))), Level + 1);

    /// <summary>Returns the enclosing square of a level.</summary>
    public CellSquare Ancestor(int level) => new(First & ~Rest(level), level);

    /// <summary>
    /// A mask of the bits after the first 2 · level. At the last level a shift by 64 would not shift at all.
    /// </summary>
    private static ulong Rest(int level) => level == HilbertCurve.Levels ? 0 : ulong.MaxValue >> (2 * level);
}
