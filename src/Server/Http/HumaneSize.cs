using System.Globalization;

namespace Treepie.Server.Http;

/// <summary>Formats sizes for people: <c>1.5 MBytes</c>.</summary>
internal static class HumaneSize
{
    private static readonly string[] _units = ["Bytes", "KBytes", "MBytes", "GBytes", "TBytes"];

    public static string Of(long bytes)
    {
        const double step = 1024;
        double size = bytes;
        int unit = 0;
        while (size >= step && unit < _units.Length - 1)
        {
            size /= step;
            unit++;
        }

        return string.Create(CultureInfo.InvariantCulture, $"{size:0.##} {_units[unit]}");
    }
}
