namespace Treepie.NativeProgram;

/// <summary>What the program stores.</summary>
internal sealed class Item
{
    public string? Id { get; set; }

    public string Name { get; set; } = "";

    public int Amount { get; set; }

    public double? Weight { get; set; }

    public ItemState State { get; set; }

    public DateTime MadeAt { get; set; }

    public List<string> Tags { get; set; } = [];

    public List<Part> Parts { get; set; } = [];

    public string? OwnerId { get; set; }
}
