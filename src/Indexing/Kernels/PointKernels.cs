using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Loops over points on a grid of 2³² × 2³²: which of up to 64 points are in a box, and which are near a centre. Results
/// have a bit for each point.
/// </summary>
internal static class PointKernels
{
    /// <summary>
    /// Relative distance to the limit within which the vector result may be rounded differently; the scalar formula then
    /// decides.
    /// </summary>
    private const double Doubt = 1e-9;

    /// <summary>
    /// Returns the points whose X is at most <paramref name="width"/> above <paramref name="minX"/>, wrapping around at 2³²,
    /// and whose Y is at most <paramref name="height"/> above <paramref name="minY"/>.
    /// </summary>
    public static ulong InBox(ReadOnlySpan<uint> xs, ReadOnlySpan<uint> ys, uint minX, uint width, uint minY, uint height)
    {
        Debug.Assert(xs.Length == ys.Length && xs.Length <= 64, "each point has two coordinates and a bit");
        if (!Vector256.IsHardwareAccelerated)
            return InBoxScalar(xs, ys, minX, width, minY, height);

        ulong found = 0;
        ref uint firstX = ref MemoryMarshal.GetReference(xs);
        ref uint firstY = ref MemoryMarshal.GetReference(ys);
        int i = 0;
        for (; i <= xs.Length - Vector256<uint>.Count; i += Vector256<uint>.Count)
        {
            Vector256<uint> x = Vector256.LoadUnsafe(ref firstX, (nuint)i) - Vector256.Create(minX);
            Vector256<uint> y = Vector256.LoadUnsafe(ref firstY, (nuint)i) - Vector256.Create(minY);
            Vector256<uint> inside = Vector256.LessThanOrEqual(x, Vector256.Create(width))
                & Vector256.LessThanOrEqual(y, Vector256.Create(height));
            found |= (ulong)inside.ExtractMostSignificantBits() << i;
        }

        return i == xs.Length ? found : found | (InBoxScalar(xs[i..], ys[i..], minX, width, minY, height) << i);
    }

    /// <summary>The scalar twin of <see cref="InBox"/>.</summary>
    public static ulong InBoxScalar(ReadOnlySpan<uint> xs, ReadOnlySpan<uint> ys, uint minX, uint width, uint minY, uint height)
    {
        Debug.Assert(xs.Length == ys.Length && xs.Length <= 64, "each point has two coordinates and a bit");
        ulong found = 0;
        for (int i = 0; i < xs.Length; i++)
        {
            if (unchecked(xs[i] - minX) <= width && unchecked(ys[i] - minY) <= height)
                found |= 1UL << i;
        }

        return found;
    }

    /// <summary>
    /// Returns those of the points in <paramref name="asked"/> whose haversine from the centre is at most
    /// <paramref name="limit"/>; see <see cref="CentreOnGrid"/> for the formula.
    /// </summary>
    public static ulong Near(ReadOnlySpan<uint> xs, ReadOnlySpan<uint> ys, ulong asked, in CentreOnGrid centre, double limit)
    {
        Debug.Assert(xs.Length == ys.Length && xs.Length <= 64, "each point has two coordinates and a bit");
        if (!Vector256.IsHardwareAccelerated)
            return NearScalar(xs, ys, asked, centre, limit);

        ulong found = 0;
        Span<double> haversines = stackalloc double[Vector256<double>.Count];
        int i = 0;
        for (; i <= xs.Length - Vector256<double>.Count; i += Vector256<double>.Count)
        {
            ulong lanes = (asked >> i) & 15;
            if (lanes == 0)
                continue;
            Vector256<double> x = Vector256.Create((double)xs[i], xs[i + 1], xs[i + 2], xs[i + 3]);
            Vector256<double> y = Vector256.Create((double)ys[i], ys[i + 1], ys[i + 2], ys[i + 3]);
            Vector256<double> latitude = (y * CentreOnGrid.RadiansPerY) - Vector256.Create(Math.PI / 2);
            Vector256<double> sinY = Vector256.Sin((latitude - Vector256.Create(centre.Latitude)) * 0.5);
            Vector256<double> sinX = Vector256.Sin(
                ((x * CentreOnGrid.RadiansPerX) - Vector256.Create(centre.Longitude + Math.PI)) * 0.5);
            Vector256<double> haversine = (sinY * sinY) + (Vector256.Cos(latitude) * centre.CosLatitude * sinX * sinX);
            haversine.CopyTo(haversines);
            for (int lane = 0; lane < haversines.Length; lane++)
            {
                if ((lanes >> lane & 1) == 0)
                    continue;
                bool isNear = Math.Abs(haversines[lane] - limit) <= Doubt * limit + 1e-24
                    ? centre.Haversine(xs[i + lane], ys[i + lane]) <= limit
                    : haversines[lane] < limit;
                if (isNear)
                    found |= 1UL << (i + lane);
            }
        }

        return i == xs.Length || asked >> i == 0 ? found : found | (NearScalar(xs[i..], ys[i..], asked >> i, centre, limit) << i);
    }

    /// <summary>The scalar twin of <see cref="Near"/>.</summary>
    public static ulong NearScalar(
        ReadOnlySpan<uint> xs, ReadOnlySpan<uint> ys, ulong asked, in CentreOnGrid centre, double limit)
    {
        Debug.Assert(xs.Length == ys.Length && xs.Length <= 64, "each point has two coordinates and a bit");
        ulong found = 0;
        for (int i = 0; i < xs.Length; i++)
        {
            if ((asked >> i & 1) != 0 && centre.Haversine(xs[i], ys[i]) <= limit)
                found |= 1UL << i;
        }

        return found;
    }
}

/// <summary>
/// A centre from which haversines to points of the grid are computed, in radians:
/// <c>sin²(Δlat / 2) + cos(lat₁) · cos(lat₂) · sin²(Δlng / 2)</c>. The last Y is the north pole itself, 2 mm from where the
/// grid's step puts it, which the formula can ignore.
/// </summary>
internal readonly struct CentreOnGrid(double latitude, double longitude)
{
    public const double RadiansPerX = 2 * Math.PI / 4294967296.0;
    public const double RadiansPerY = Math.PI / 4294967296.0;

    public double Latitude { get; } = latitude;

    public double Longitude { get; } = longitude;

    public double CosLatitude { get; } = Math.Cos(latitude);

    public double Haversine(uint x, uint y)
    {
        double latitude = (y * RadiansPerY) - (Math.PI / 2);
        double sinY = Math.Sin((latitude - Latitude) * 0.5);
        double sinX = Math.Sin(((x * RadiansPerX) - (Longitude + Math.PI)) * 0.5);
        return (sinY * sinY) + (Math.Cos(latitude) * CosLatitude * sinX * sinX);
    }
}
