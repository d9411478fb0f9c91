namespace Treepie.NativeProgram;

/// <summary>A document with all that queries of places, vectors and words look at.</summary>
internal sealed class Place
{
    public string? Id { get; set; }

    public string Name { get; set; } = "";

    public string Text { get; set; } = "";

    public string Country { get; set; } = "";

    public double Latitude { get; set; }

    public double Longitude { get; set; }

    public float[] Likeness { get; set; } = [];

    public Dictionary<string, int> Counts { get; set; } = [];

    public int Visits { get; set; }

    public string? TwinId { get; set; }

    public string? CodeKey { get; set; }

    public List<string> Tags { get; set; } = [];
}
