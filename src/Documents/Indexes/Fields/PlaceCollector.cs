using Treepie.Indexing;

namespace Treepie.Indexes.Fields;

/// <summary>
/// Combines the coordinates of points, which are at two paths of a document: the first latitude with the first longitude,
/// and so on. A point with a null coordinate is skipped.
/// </summary>
internal sealed class PlaceCollector(int field, string latitudePath, string longitudePath)
{
    private readonly List<double?> _latitudes = [];
    private readonly List<double?> _longitudes = [];

    /// <summary>The path of the latitudes.</summary>
    public string Path => latitudePath;

    public void Clear()
    {
        _latitudes.Clear();
        _longitudes.Clear();
    }

    public void Add(bool isLongitude, double? degrees) => (isLongitude ? _longitudes : _latitudes).Add(degrees);

    /// <summary>Adds the points to the current entry of a batch.</summary>
    /// <exception cref="FormatException">A coordinate is outside its range, or there are more of one than of the other. Points
    /// before it are added.</exception>
    public void AddTo(IndexBatch batch)
    {
        if (_latitudes.Count != _longitudes.Count && _latitudes.Count * _longitudes.Count > 0)
            throw new InvalidGeometryException(
                $"There are {_latitudes.Count} latitudes at '{latitudePath}' and {_longitudes.Count} longitudes at "
                    + $"'{longitudePath}': it is not clear which belong together.");

        bool hasPlace = false;
        for (int i = 0; i < Math.Min(_latitudes.Count, _longitudes.Count); i++)
        {
            if (_latitudes[i] is not { } latitude || _longitudes[i] is not { } longitude)
                continue;
            batch.AddPoint(field, latitude, longitude);
            hasPlace = true;
        }

        if (!hasPlace && _latitudes.Count + _longitudes.Count > 0)
            batch.AddNull(field);
    }
}
