// Draws the icon of the packages, a tree whose crown is a pie: dotnet run assets/icon.cs assets/icon.png
using System.Buffers.Binary;
using System.IO.Compression;

const int Size = 128, Samples = 8;

// From the bottom up; each shape says whether a point of the square from 0 to 1 lies in it.
(Func<double, double, bool> Holds, uint Colour)[] shapes =
[
    (Trunk, 0x7A4A2B),
    ((x, y) => Distance(x, y, 0.47, 0.43) < 0.40 && !IsSlice(x, y, 0.47, 0.43), 0x2E7D4F),
    ((x, y) => Distance(x, y, 0.47, 0.43) < 0.33 && !IsSlice(x, y, 0.47, 0.43), 0x43A86B),
    ((x, y) => Distance(x, y, 0.54, 0.37) < 0.40 && IsSlice(x, y, 0.54, 0.37), 0xC9772B),
    ((x, y) => Distance(x, y, 0.54, 0.37) < 0.33 && IsSlice(x, y, 0.54, 0.37), 0xF2B04A),
    (Branches, 0x7A4A2B),
];

byte[] rows = new byte[Size * (1 + (Size * 4))]; // each row begins with the number of its filter, 0 for none
for (int row = 0; row < Size; row++)
    for (int column = 0; column < Size; column++)
        Draw(row, column, rows.AsSpan((row * (1 + (Size * 4))) + 1 + (column * 4), 4));

using FileStream png = File.Create(args[0]);
png.Write([0x89, .. "PNG\r\n\u001A\n"u8]);
byte[] header = [0, 0, 0, Size, 0, 0, 0, Size, 8, 6, 0, 0, 0]; // width, height, 8 bits each of red, green, blue and alpha
WriteChunk(png, "IHDR"u8, header);
using var packed = new MemoryStream();
using (var zlib = new ZLibStream(packed, CompressionLevel.SmallestSize, leaveOpen: true))
    zlib.Write(rows);
WriteChunk(png, "IDAT"u8, packed.ToArray());
WriteChunk(png, "IEND"u8, []);

// The mean of the samples of a pixel, weighed by how much of the pixel is covered.
void Draw(int row, int column, Span<byte> pixel)
{
    int red = 0, green = 0, blue = 0, covered = 0;
    for (int sample = 0; sample < Samples * Samples; sample++)
    {
        double x = (column + (((sample % Samples) + 0.5) / Samples)) / Size;
        double y = (row + (((sample / Samples) + 0.5) / Samples)) / Size;
        for (int at = shapes.Length - 1; at >= 0; at--)
        {
            if (!shapes[at].Holds(x, y))
                continue;
            uint colour = shapes[at].Colour;
            (red, green, blue) = (red + (int)(colour >> 16), green + (int)((colour >> 8) & 0xFF), blue + (int)(colour & 0xFF));
            covered++;
            break;
        }
    }

    if (covered == 0)
        return;
    pixel[0] = (byte)(red / covered);
    pixel[1] = (byte)(green / covered);
    pixel[2] = (byte)(blue / covered);
    pixel[3] = (byte)(covered * 255 / (Samples * Samples));
}

// From the middle of the crown down, wider towards the ground.
static bool Trunk(double x, double y) => y is > 0.6 and < 0.97 && Math.Abs(x - 0.47) < 0.045 + (0.35 * Math.Pow(y - 0.6, 2.2));

// Two, as a tree of pages has them.
static bool Branches(double x, double y) =>
    (y is > 0.43 and <= 0.84 && Math.Abs(x - 0.47) < 0.022 + (0.07 * (y - 0.43)))
    || IsStroke(x, y, 0.47, 0.62, 0.30, 0.40) || IsStroke(x, y, 0.47, 0.70, 0.66, 0.53);

static bool IsStroke(double x, double y, double fromX, double fromY, double toX, double toY)
{
    double along = (((x - fromX) * (toX - fromX)) + ((y - fromY) * (toY - fromY)))
        / (Math.Pow(toX - fromX, 2) + Math.Pow(toY - fromY, 2));
    along = Math.Clamp(along, 0, 1);
    return Distance(x, y, fromX + (along * (toX - fromX)), fromY + (along * (toY - fromY))) < 0.026 - (0.012 * along);
}

// The slice that is pulled out: from noon to three o'clock, about.
static bool IsSlice(double x, double y, double middleX, double middleY) =>
    Math.Atan2(middleY - y, x - middleX) is > 0.15 and < 1.45;

static double Distance(double x, double y, double toX, double toY) => Math.Sqrt(Math.Pow(x - toX, 2) + Math.Pow(y - toY, 2));

static void WriteChunk(Stream png, ReadOnlySpan<byte> kind, ReadOnlySpan<byte> content)
{
    Span<byte> number = stackalloc byte[4];
    BinaryPrimitives.WriteInt32BigEndian(number, content.Length);
    png.Write(number);
    byte[] summed = [.. kind, .. content];
    png.Write(summed);
    BinaryPrimitives.WriteUInt32BigEndian(number, Crc32(summed));
    png.Write(number);
}

static uint Crc32(ReadOnlySpan<byte> bytes)
{
    uint crc = uint.MaxValue;
    foreach (byte value in bytes)
    {
        crc ^= value;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 1) == 0 ? crc >> 1 : (crc >> 1) ^ 0xEDB88320;
    }

    return ~crc;
}
